package ignore

import (
	"os"
	"path/filepath"
	"strings"

	"magicode/internal/vfs"
)

// Sources says where rules outside of the tree come from. The zero value
// reads the user's git configuration.
type Sources struct {
	Home   string // "": the environment's
	Config string // XDG_CONFIG_HOME; "": the environment's, or Home/.config
	System string // the system's configuration; "": /etc/gitconfig
}

// withDefaults fills what is empty.
func (s Sources) withDefaults() Sources {
	if s.Home == "" {
		s.Home, _ = os.UserHomeDir()
		if s.Config == "" {
			s.Config = os.Getenv("XDG_CONFIG_HOME")
		}
	}
	if s.Config == "" && s.Home != "" {
		s.Config = filepath.Join(s.Home, ".config")
	}
	if s.System == "" {
		s.System = "/etc/gitconfig"
	}
	return s
}

// repo is what a repository adds to the rules of its directories.
type repo struct {
	top      string
	exclude  *list // info/exclude
	excludes *list // core.excludesFile
}

// findRepo looks for the repository that dir belongs to.
func findRepo(fsys vfs.FS, dir string, src Sources) *repo {
	for {
		if r := openRepo(fsys, dir, src); r != nil {
			return r
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return nil
		}
		dir = parent
	}
}

// openRepo returns the repository whose work tree starts at dir, or nil.
func openRepo(fsys vfs.FS, dir string, src Sources) *repo {
	dot := filepath.Join(dir, ".git")
	info, err := fsys.Stat(dot)
	if err != nil {
		return nil
	}
	common := dot
	if !info.Mode.IsDir() {
		if common = linkedDir(fsys, dot); common == "" {
			return nil
		}
	}
	src = src.withDefaults()
	r := &repo{top: dir, exclude: readList(fsys, filepath.Join(common, "info", "exclude"), vfs.Follow)}
	file := filepath.Join(src.Config, "git", "ignore")
	for _, conf := range []string{src.System, filepath.Join(src.Config, "git", "config"), filepath.Join(src.Home, ".gitconfig"), filepath.Join(common, "config")} {
		if data, err := vfs.ReadFile(fsys, conf, maxRulesFile, vfs.Follow); err == nil {
			if v, ok := excludesFile(string(data)); ok {
				file = v
			}
		}
	}
	if rest, ok := strings.CutPrefix(file, "~/"); ok {
		file = filepath.Join(src.Home, rest)
	}
	if file != "" {
		if !filepath.IsAbs(file) {
			file = filepath.Join(dir, file)
		}
		r.excludes = readList(fsys, file, vfs.Follow)
	}
	return r
}

// linkedDir follows a .git file of a linked work tree or submodule to the
// directory that holds info/exclude.
func linkedDir(fsys vfs.FS, file string) string {
	data, err := vfs.ReadFile(fsys, file, 4096, vfs.Follow)
	if err != nil {
		return ""
	}
	dir, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok {
		return ""
	}
	if !filepath.IsAbs(dir) {
		dir = filepath.Join(filepath.Dir(file), dir)
	}
	if data, err := vfs.ReadFile(fsys, filepath.Join(dir, "commondir"), 4096, vfs.Follow); err == nil {
		common := strings.TrimRight(string(data), "\r\n")
		if !filepath.IsAbs(common) {
			common = filepath.Join(dir, common)
		}
		return common
	}
	return dir
}

func readList(fsys vfs.FS, name string, opts ...vfs.ReadOption) *list {
	data, err := vfs.ReadFile(fsys, name, maxRulesFile, opts...)
	if err != nil {
		return nil
	}
	return parseList(string(data))
}

// excludesFile finds the last core.excludesFile of a git configuration.
// Included files are not followed.
func excludesFile(conf string) (value string, ok bool) {
	inCore := false
	for line := range strings.SplitSeq(conf, "\n") {
		line = strings.TrimSpace(line)
		if rest, is := strings.CutPrefix(line, "["); is {
			section, after, _ := strings.Cut(rest, "]")
			inCore = strings.EqualFold(strings.TrimSpace(section), "core")
			line = strings.TrimSpace(after)
		}
		if !inCore {
			continue
		}
		key, v, has := strings.Cut(line, "=")
		if has && strings.EqualFold(strings.TrimSpace(key), "excludesfile") {
			value, ok = configValue(v), true
		}
	}
	return value, ok
}

// configValue takes quotes, escapes and a comment off a value.
func configValue(v string) string {
	var b strings.Builder
	quoted := false
	v = strings.TrimSpace(v)
	for i := 0; i < len(v); i++ {
		switch c := v[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && i+1 < len(v):
			i++
			b.WriteByte(v[i])
		case (c == '#' || c == ';') && !quoted:
			return strings.TrimSpace(b.String())
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
