package protect

import (
	"strings"
)

func (w *walker) remove(args []string, _ *source) {
	if flag(args, "--no-preserve-root") {
		w.raise(destruction, 2)
	}
	w.raise(overall, 1)
	for _, t := range operands(args) {
		w.destroys(t)
	}
}

func (w *walker) dd(args []string, in *source) {
	w.raise(overall, 1)
	for _, a := range args {
		if to, ok := strings.CutPrefix(a, "of="); ok {
			w.writes(to)
			w.keeps(to, in.orNothing())
		}
		if from, ok := strings.CutPrefix(a, "if="); ok {
			w.readsFile(from)
			if w.zoneOf(from) == zoneDevice && !strings.HasSuffix(from, "random") {
				w.raise(credentials, 1.8)
			}
		}
	}
}

func (w *walker) permissions(name string, args []string) {
	w.raise(overall, 1)
	targets := operands(args)
	if len(targets) > 0 && !flag(args, "--reference") {
		if name == "chmod" && special(targets[0]) {
			w.raise(privilege, 2)
		}
		targets = targets[1:]
	}
	for _, t := range targets {
		switch z := w.zoneOf(t); {
		case z == zoneWorkspace && flag(args, "-R", "--recursive"):
			w.raise(overall, 1.5)
		case z <= zoneWorkspace:
		case z == zoneUnknown:
			w.raise(privilege, 1.5)
		case (name == "chown" || name == "chgrp" || flag(args, "-R")) || z != zoneOutside || !tightens(operands(args)[0]):
			w.raise(destruction, 1.8)
			w.raise(privilege, 1.8)
		}
	}
}

// special modes run a program with somebody else's rights.
func special(mode string) bool {
	octal := strings.TrimLeft(mode, "0")
	if strings.Trim(mode, "01234567") == "" {
		return len(octal) >= 4
	}
	return strings.ContainsAny(mode, "s") && strings.ContainsAny(mode, "+=")
}

// tightens: modes for the owner only.
func tightens(mode string) bool {
	return len(mode) >= 3 && strings.HasSuffix(mode, "00") && strings.Trim(mode, "01234567") == "" || strings.HasPrefix(mode, "go-")
}

// copies judges programs that write at their last operand.
func (w *walker) copies(name string, args []string) {
	w.raise(overall, 1)
	if name == "install" && len(values(args, "-m", "--mode")) > 0 && special(values(args, "-m", "--mode")[0]) {
		w.raise(privilege, 2)
	}
	ops := operands(valued(args, "-t", "-m", "-o", "-g", "-S", "--suffix", "--mode", "--owner", "--group"))
	targets := values(args, "-t", "--target-directory")
	from := ops
	if len(targets) == 0 && len(ops) > 1 {
		targets, from = ops[len(ops)-1:], ops[:len(ops)-1]
	}
	if len(ops) == 1 && len(targets) == 0 && name == "ln" {
		targets = []string{base(ops[0])}
	}
	if name == "install" && flag(args, "-d", "--directory") {
		targets, from = ops, nil
	}
	for _, t := range targets {
		w.writes(t)
		w.spreads(name, args, from, t)
	}
	if name == "mv" || name == "gmv" {
		for _, o := range from {
			if w.zoneOf(o) > zoneInside || w.repository(o) {
				w.destroys(o)
			}
		}
	}
}

// spreads follows links, and what is known of files, to their new names.
func (w *walker) spreads(name string, args, from []string, to string) {
	link := name == "ln" && flag(args, "-s", "--symbolic") || name == "cp" && flag(args, "-s", "--symbolic-link") || name == "ln"
	for _, f := range from {
		for _, dest := range []string{to, to + "/" + base(f)} {
			if link {
				w.makesLink(dest, f)
				continue
			}
			if src := w.content(f); src.file == "" {
				w.keeps(dest, src)
			}
		}
	}
}

// tees judges programs that write their input to files.
func (w *walker) tees(name string, args []string, in *source) {
	w.raise(overall, 1)
	ops := operands(valued(args, "-s", "--size", "-r", "-l", "-b", "-n"))
	if name == "split" || name == "csplit" {
		if len(ops) > 1 {
			w.writes(ops[len(ops)-1])
		}
		for _, cmd := range values(args, "--filter") {
			w.inline(cmd)
		}
		return
	}
	for _, o := range ops {
		w.writes(o)
		w.keeps(o, in.orNothing())
	}
}

func (w *walker) rsync(args []string, _ *source) {
	w.raise(overall, 1)
	for _, rsh := range values(args, "-e", "--rsh", "--rsync-path") {
		w.commandValue(rsh)
		if base(firstWord(rsh)) != "ssh" {
			w.raise(untrusted, 1.8)
		}
	}
	ops := operands(valued(args, "-e", "--rsh", "--exclude", "--include", "--rsync-path"))
	for i, o := range ops {
		last := i == len(ops)-1 && len(ops) > 1
		switch {
		case strings.Contains(o, ":") && !strings.HasPrefix(o, "/") && !strings.HasPrefix(o, "."):
			w.raise(credentials, 1.8)
		case last:
			w.writes(o)
			if strings.Contains(strings.Join(args, " "), "--del") && w.zoneOf(o) >= zoneWorkspace {
				w.raise(destruction, 1.9)
			}
		case flag(args, "--remove-source-files"):
			w.destroys(o)
		}
	}
}

func firstWord(s string) string {
	if f := strings.Fields(s); len(f) > 0 {
		return f[0]
	}
	return ""
}

func (w *walker) tar(args []string, in *source) {
	w.raise(overall, 1)
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		args = append([]string{"-" + args[0]}, args[1:]...) // the old way to write options
	}
	if flag(args, "-c", "-r", "-u", "--create", "--append", "--update") {
		w.packs(args)
	}
	for _, o := range []string{"--to-command", "--checkpoint-action", "--use-compress-program", "-I", "--info-script", "--new-volume-script", "-F", "--rsh-command", "--rmt-command"} {
		for _, cmd := range values(args, o) {
			cmd, _ = strings.CutPrefix(cmd, "exec=")
			if o == "-F" || (o == "-I" || o == "--use-compress-program") && compressors[firstWord(cmd)] || strings.HasPrefix(cmd, "dot") || strings.HasPrefix(cmd, "echo") {
				continue
			}
			w.raise(untrusted, 1.9)
			w.inline(cmd)
		}
	}
	into := values(args, "-C", "--directory")
	for _, d := range into {
		w.writes(d)
	}
	if flag(args, "-P", "--absolute-names", "--unlink-first", "--recursive-unlink") {
		w.raise(destruction, 1.8)
	}
	if flag(args, "--remove-files") {
		for _, o := range operands(args) {
			w.destroys(o)
		}
	}
	w.unpacks(into, operands(args), in)
}

// packs judges what goes into an archive.
func (w *walker) packs(args []string) {
	saved := w.dirs
	for _, d := range values(args, "-C", "--directory") {
		w.dirs = union(w.dirs, w.absolute(d))
	}
	for _, o := range operands(valued(args, "-C", "--directory", "-f", "--exclude")) {
		if w.secretTree(o) {
			w.raise(credentials, 1.9)
		}
	}
	w.dirs = saved
}

var compressors = set("gzip pigz bzip2 pbzip2 xz zstd lz4 pixz lzma brotli")

// unpacks: what comes out of a fetched archive is fetched too.
func (w *walker) unpacks(into, archives []string, in *source) {
	fetched := in != nil && in.download
	for _, a := range archives {
		for _, d := range w.absolute(a) {
			fetched = fetched || w.isFetched(d)
		}
	}
	if !fetched {
		return
	}
	if len(into) == 0 {
		into = []string{"."}
	}
	for _, d := range into {
		w.fetched = append(w.fetched, w.absolute(d)...)
	}
}

func (w *walker) archive(name string, args []string, in *source) {
	w.raise(overall, 1)
	ops := operands(args)
	switch name {
	case "zip":
		if flag(args, "-TT", "--unzip-command") {
			w.raise(untrusted, 1.9)
		}
		if len(ops) > 0 {
			w.writes(ops[0])
		}
	case "unzip", "7z", "unrar":
		into := values(args, "-d", "-o")
		for _, d := range into {
			if name == "unzip" || d != "" {
				w.writes(d)
			}
		}
		w.unpacks(into, ops, in)
	case "cpio", "pax":
		if flag(args, "--to-command") || flag(args, "--rsh-command") {
			w.raise(untrusted, 1.9)
		}
		w.unpacks(nil, ops, in)
	default:
		if !flag(args, "-c", "--stdout", "-l", "-t", "-k") {
			for _, o := range ops {
				w.writes(o)
			}
		}
	}
}

func (w *walker) patch(args []string, _ *source) {
	w.raise(overall, 1)
	for _, d := range values(args, "-d", "--directory", "-o", "--output") {
		w.writes(d)
	}
	if ops := operands(valued(args, "-d", "-i", "-p", "-o")); len(ops) > 0 {
		w.writes(ops[0])
	}
}

// sorts: readers that can write, and run a program.
func (w *walker) sorts(name string, args []string) {
	w.raise(overall, 0.1)
	if name == "yq" {
		if flag(args, "-i", "--inplace") {
			for _, o := range skipFirst(operands(args)) {
				w.writes(o)
			}
		}
		return
	}
	for _, o := range values(args, "-o", "--output") {
		w.writes(o)
	}
	for _, cmd := range values(args, "--compress-program") {
		w.raise(untrusted, 1.8)
		w.inline(cmd)
	}
}
