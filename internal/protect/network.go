package protect

import (
	"slices"
	"strings"
)

// uploads are options of fetching programs that send something.
var uploads = strings.Fields("-d --data --data-binary --data-raw --data-urlencode --data-ascii -F --form -T --upload-file --json --post-data --post-file --body-data --body-file --form-string")

// download judges fetching and sending.
func (w *walker) download(name string, args []string, in *source) {
	w.raise(overall, 1)
	if name != "http" && name != "https" && name != "xh" {
		for _, v := range values(args, uploads...) {
			w.uploads(v, in)
		}
		for _, v := range values(args, "-T", "--upload-file", "--post-file", "--body-file") {
			if name != "wget" || !flag(args, "-T") {
				w.raise(credentials, 1.4)
				w.readsFile(v)
			}
		}
		for _, v := range values(args, "-K", "--config", "--use-askpass") {
			if name != "wget" || v != "" {
				w.raise(untrusted, 1.5)
				w.readsFile(v)
			}
		}
	} else if in != nil {
		w.uploads("@-", in)
	}
	for _, a := range args {
		if strings.Contains(a, hidden) {
			w.sends = true
		}
	}
	w.saves(name, args)
}

// uploads judges one value that is sent.
func (w *walker) uploads(v string, _ *source) {
	w.raise(overall, 1.2)
	_, file, ok := strings.Cut(v, "@")
	if ok {
		file, _, _ = strings.Cut(file, ";")
		w.sends = true
		w.raise(credentials, 1.4)
		if file != "-" {
			w.readsFile(file)
		}
	}
	if strings.Contains(v, hidden) {
		w.sends = true
		w.raise(credentials, 1.4)
	}
}

// saves remembers the file that something fetched goes to.
func (w *walker) saves(name string, args []string) {
	var files []string
	ops := operands(args)
	switch name {
	case "wget", "axel":
		files = values(args, "-O", "--output-document", "-o")
		if name == "wget" {
			files = values(args, "-O", "--output-document")
		}
		for _, d := range values(args, "-P", "--directory-prefix") {
			w.writes(d)
			w.fetched = append(w.fetched, w.absolute(d)...)
		}
		if len(files) == 0 {
			for _, o := range ops {
				files = append(files, base(o))
			}
		}
	default:
		files = values(args, "-o", "--output", "--output-dir", "--out", "-d")
		if name == "curl" {
			files = values(args, "-o", "--output", "--output-dir")
			if flag(args, "-O", "--remote-name", "--remote-name-all") {
				for _, o := range ops {
					files = append(files, base(o))
				}
			}
		}
	}
	for _, f := range files {
		if f != "" && f != "-" {
			w.writes(f)
			w.fetched = append(w.fetched, w.absolute(f)...)
		}
	}
}

// isFetched: the path is something that this text fetched, or lies in it.
func (w *walker) isFetched(p string) bool {
	for _, f := range w.fetched {
		if within(f, p) && f != w.place.Workspace {
			return true
		}
	}
	return slices.Contains(w.fetched, w.place.Workspace) && within(w.place.Workspace, p)
}

// names judges programs that ask name servers or other hosts: a computed name
// carries out what was computed.
func (w *walker) names(args []string, _ *source) {
	w.raise(overall, 0.3)
	for _, a := range args {
		if strings.Contains(a, hidden) && a != hidden {
			w.sends = true
			w.raise(credentials, 1.8)
		}
	}
	if len(values(args, "-p")) > 0 && strings.Contains(strings.Join(args, ""), hidden) {
		w.raise(credentials, 1.8)
	}
}

// ssh reaches another machine, and may run programs on this one.
func (w *walker) ssh(args []string, in *source) {
	if flag(args, "-V", "-G") && len(args) < 3 {
		return
	}
	w.sends = true
	w.raise(untrusted, 1.8)
	for _, o := range values(args, "-o") {
		if strings.Contains(strings.ToLower(o), "command") {
			w.raise(untrusted, 1.9)
		}
	}
}

func (w *walker) openssl(args []string, _ *source) {
	w.raise(overall, 0.3)
	if len(args) == 0 {
		return
	}
	if args[0] == "s_client" || args[0] == "s_server" {
		w.raise(overall, 1.2)
		w.sends = true
	}
	for _, o := range values(args, "-out") {
		w.writes(o)
	}
	for _, o := range values(args, "-in", "-inkey", "-key") {
		w.readsFile(o)
	}
	if flag(args, "-engine") || contains(args, "-engine") || contains(args, "-provider-path") {
		w.raise(untrusted, 1.8)
	}
}

func (w *walker) printenv(args []string, _ *source) {
	w.raise(overall, 0.1)
	if len(operands(args)) == 0 {
		w.dumps = true
		w.raise(credentials, 1.2)
	}
	for _, a := range args {
		if secretVariable(a) {
			w.raise(credentials, 1.8)
		}
	}
}

// shows: the sending programs of the tables, and the ones that print the value
// of a secret variable, are known by what they are given.
func (w *walker) shows(name string, args []string) {
	if name == "echo" || name == "printf" {
		for _, a := range args {
			if strings.Contains(a, secret) {
				w.raise(credentials, 1.8)
			}
		}
	}
	switch severe[name].kind {
	case untrusted, credentials:
		if severe[name].score > 0 {
			w.sends = true
		}
	}
}

// secretVariable: names by which credentials are kept in the environment.
func secretVariable(name string) bool {
	name = strings.ToUpper(name)
	for _, s := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "API_KEY", "APIKEY", "PRIVATE_KEY", "ACCESS_KEY", "CREDENTIAL"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}
