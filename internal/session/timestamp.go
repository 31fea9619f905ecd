package session

import "time"

// instant is a point in time that compares without a time zone.
type instant struct {
	sec  int64
	nano int32
}

func (a instant) after(b instant) bool { return a.sec > b.sec || a.sec == b.sec && a.nano > b.nano }

// parseTimestamp reads RFC 3339 with the leniencies of storage.md 5.6: `t`, `z`
// and a space in place of `T`, more than nine fraction digits, second 60. An
// offset is required.
func parseTimestamp(s []byte) (instant, bool) {
	if len(s) < len("2006-01-02T15:04:05Z") || s[4] != '-' || s[7] != '-' || s[13] != ':' || s[16] != ':' {
		return instant{}, false
	}
	if s[10] != 'T' && s[10] != 't' && s[10] != ' ' {
		return instant{}, false
	}
	century, year, month, day := two(s[0:]), two(s[2:]), two(s[5:]), two(s[8:])
	hour, minute, second := two(s[11:]), two(s[14:]), two(s[17:])
	if century|year|month|day|hour|minute|second < 0 || hour > 23 || minute > 59 || second > 60 {
		return instant{}, false
	}
	days, ok := civil(century*100+year, month, day)
	if !ok {
		return instant{}, false
	}
	nano, rest := fraction(s[19:])
	offset, ok := zone(rest)
	if !ok {
		return instant{}, false
	}
	return instant{sec: days*86400 + int64(hour*3600+minute*60+second) - offset, nano: nano}, true
}

// two reads two digits; a negative result means that they are none.
func two(s []byte) int {
	a, b := s[0]-'0', s[1]-'0'
	if a > 9 || b > 9 {
		return -1
	}
	return int(a)*10 + int(b)
}

// civil returns the days since 1970-01-01 in the Gregorian calendar.
func civil(year, month, day int) (int64, bool) {
	if month < 1 || month > 12 || day < 1 {
		return 0, false
	}
	length := [...]int{31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31}[month-1]
	if month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0) {
		length = 29
	}
	if day > length {
		return 0, false
	}
	// Years that begin in March put the leap day at their end.
	y, m := int64(year), int64(month)
	if m <= 2 {
		y--
		m += 12
	}
	y += 400 // keeps the divisions below positive for the year 0
	return 365*y + y/4 - y/100 + y/400 + (153*(m-3)+2)/5 + int64(day) - 1 - 719468 - 146097, true
}

// fraction reads `.digits`; digits after the ninth are dropped.
func fraction(s []byte) (nano int32, rest []byte) {
	if len(s) < 2 || s[0] != '.' || s[1]-'0' > 9 {
		return 0, s
	}
	i := 1
	for scale := int32(100_000_000); i < len(s) && s[i]-'0' <= 9; i++ {
		nano += int32(s[i]-'0') * scale
		scale /= 10
	}
	return nano, s[i:]
}

func zone(s []byte) (seconds int64, ok bool) {
	if len(s) == 1 && (s[0] == 'Z' || s[0] == 'z') {
		return 0, true
	}
	if len(s) != 6 || s[0] != '+' && s[0] != '-' || s[3] != ':' {
		return 0, false
	}
	h, m := two(s[1:]), two(s[4:])
	if h|m < 0 || h > 23 || m > 59 {
		return 0, false
	}
	seconds = int64(h*3600 + m*60)
	if s[0] == '-' {
		seconds = -seconds
	}
	return seconds, true
}

// appendTimestamp writes UTC with 0, 3, 6 or 9 fraction digits, as few as keep
// the value (storage.md 6.1).
func appendTimestamp(dst []byte, t time.Time) []byte {
	layout := "2006-01-02T15:04:05.000000000Z"
	switch n := t.Nanosecond(); {
	case n == 0:
		layout = "2006-01-02T15:04:05Z"
	case n%1_000_000 == 0:
		layout = "2006-01-02T15:04:05.000Z"
	case n%1_000 == 0:
		layout = "2006-01-02T15:04:05.000000Z"
	}
	return t.UTC().AppendFormat(dst, layout)
}
