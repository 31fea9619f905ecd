package redact

import (
	"strings"
	"unicode/utf8"
)

const (
	maxUserBytes   = 128 // of a URL's user name, for looking back
	maxURLPassword = 512 // so that time stays linear
	minURLPassword = 2   // a single character hides nothing worth hiding
	minURLUser     = 16  // a user name that is a key itself
)

// notAuthority are the bytes that end user, password and host of a URL.
const notAuthority = " \t\r\n\v\f/?#\"'<>`\\"

// urlPassword hides the password that follows the ':' at i, where that is the
// one of "scheme://user:password@host".
func (c *scan) urlPassword(i int) int {
	s := c.s
	if i+1 < len(s) && s[i+1] <= ' ' {
		return none
	}
	if rest := s[i:]; strings.HasPrefix(rest, "://") {
		return c.urlUser(i + len("://"))
	} else if len(rest) < len("://") && strings.HasPrefix("://", rest) {
		return c.end(none)
	}
	if !c.afterUser(i) {
		return none
	}
	end := c.userinfoEnd(i + 1)
	if end < 0 {
		return end
	}
	if end-i-1 < minURLPassword || strings.HasPrefix(s[i+1:], "${") || strings.HasPrefix(s[i+1:], "{") {
		return none
	}
	c.hide(i+1, end)
	return end
}

// afterUser reports whether "://user" ends at i; the user may be empty.
func (c *scan) afterUser(i int) bool {
	s, low := c.s, max(c.floor, i-maxUserBytes)
	for j := i - 1; j >= low; j-- {
		if s[j] == '/' {
			return j-2 >= low && s[j-1] == '/' && s[j-2] == ':'
		}
		if s[j] <= ' ' || s[j] == '@' || s[j] == ':' || s[j] == '"' || s[j] == '\'' {
			return false
		}
	}
	return low == c.floor && c.user
}

// userinfoEnd returns the place of the '@' that ends the password at i. A
// password may hold '@', and what belongs into a path when no port can stand
// there.
func (c *scan) userinfoEnd(i int) int {
	s := c.s
	end := none
	port := runEnd(s, i, digit)
	for j := i; j < len(s); j++ {
		b := s[j]
		if j-i == maxURLPassword {
			return end
		}
		if b == '@' {
			end = j
			continue
		}
		if strings.IndexByte(notAuthority, b) < 0 && (b < utf8.RuneSelf || blank(s, j) == 0) {
			continue
		}
		if end == none && j > port && (b == '/' || b == '?' || b == '#') {
			continue
		}
		return end
	}
	return c.end(end)
}

// urlUser hides the user at i, where it is alone and long enough to be a key.
func (c *scan) urlUser(i int) int {
	s := c.s
	end, seen := i, uint32(0)
	for end < len(s) && classes[s[end]]&url64 != 0 {
		seen |= classes[s[end]]
		end++
	}
	if end == len(s) {
		return c.end(none)
	}
	if s[end] != '@' || end-i < minURLUser || seen&digit == 0 {
		return none
	}
	c.hide(i, end)
	return end
}
