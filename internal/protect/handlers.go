package protect

// handler judges the arguments of one program.
type handler func(w *walker, args []string, in *source)

// handlerOf returns what judges a program by its arguments, or nil. It is a
// function and not a table: handlers come back to it.
func handlerOf(name string) handler {
	for _, group := range []func(string) handler{builtinHandler, fileHandler, toolHandler, serviceHandler} {
		if h := group(name); h != nil {
			return h
		}
	}
	return nil
}

func builtinHandler(name string) handler {
	switch name {
	case "eval":
		return (*walker).evaluate
	case "source", ".":
		return (*walker).sourced
	case "alias":
		return (*walker).alias
	case "trap":
		return (*walker).trap
	case "hash":
		return (*walker).hash
	case "enable":
		return (*walker).enable
	case "mapfile", "readarray":
		return (*walker).mapfile
	case "complete", "bind", "compgen":
		return (*walker).binds
	case "history", "fc":
		return (*walker).history
	case "set", "export", "declare", "typeset":
		return (*walker).lists
	case "cd", "pushd", "chdir":
		return (*walker).changeDir
	case "popd":
		return (*walker).popDir
	}
	return nil
}

func fileHandler(name string) handler {
	switch name {
	case "rm", "rmdir", "unlink", "shred", "srm", "trash", "wipe", "rimraf", "del", "gio":
		return (*walker).remove
	case "dd", "dcfldd", "ddrescue":
		return (*walker).dd
	case "chmod", "chown", "chgrp", "chattr", "setfacl", "setfattr", "xattr":
		return func(w *walker, args []string, _ *source) { w.permissions(name, args) }
	case "find", "fd", "fdfind", "bfs":
		return (*walker).find
	case "cp", "mv", "ln", "install", "ditto", "gcp", "gmv":
		return func(w *walker, args []string, _ *source) { w.copies(name, args) }
	case "tee", "sponge", "split", "csplit", "truncate":
		return func(w *walker, args []string, in *source) { w.tees(name, args, in) }
	case "rsync":
		return (*walker).rsync
	case "tar", "gtar", "bsdtar":
		return (*walker).tar
	case "unzip", "7z", "zip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "cpio", "unrar", "pax":
		return func(w *walker, args []string, in *source) { w.archive(name, args, in) }
	case "patch":
		return (*walker).patch
	case "sed", "gsed":
		return (*walker).sed
	case "awk", "gawk", "mawk", "nawk", "original-awk":
		return (*walker).awk
	case "sort", "yq":
		return func(w *walker, args []string, _ *source) { w.sorts(name, args) }
	}
	return nil
}

func toolHandler(name string) handler {
	switch name {
	case "git", "hub":
		return (*walker).git
	case "make", "gmake", "just", "bmake", "remake":
		return (*walker).make
	case "npm", "npx", "pnpm", "pnpx", "yarn", "bunx", "pip", "pip3", "pipx", "uv", "uvx", "gem", "brew", "cargo", "go", "easy_install", "cpan", "cpanm", "luarocks":
		return func(w *walker, args []string, _ *source) { w.packages(name, args) }
	case "vi", "vim", "nvim", "view", "vimdiff", "emacs", "ed", "ex", "nano", "pico":
		return (*walker).editor
	case "less", "man", "most", "pg", "journalctl":
		return func(w *walker, args []string, _ *source) { w.pager(name, args) }
	case "gdb", "lldb":
		return (*walker).debugger
	case "psql", "mysql", "mariadb", "sqlite3", "mongo", "mongosh", "redis-cli", "cqlsh", "clickhouse-client", "duckdb":
		return func(w *walker, args []string, in *source) { w.database(name, args, in) }
	case "pwsh", "powershell", "cmd", "wsl", "cscript", "wscript", "mshta", "rundll32", "regsvr32":
		return (*walker).windows
	case "java":
		return (*walker).java
	case "openssl":
		return (*walker).openssl
	}
	return nil
}

func serviceHandler(name string) handler {
	switch name {
	case "curl", "wget", "aria2c", "http", "https", "xh", "httpie", "axel", "lynx", "fetch":
		return func(w *walker, args []string, in *source) { w.download(name, args, in) }
	case "dig", "nslookup", "host", "ping", "drill", "resolvectl":
		return (*walker).names
	case "ssh", "autossh", "sshpass":
		return (*walker).ssh
	case "kill", "pkill", "killall", "fuser":
		return func(w *walker, args []string, _ *source) { w.kill(name, args) }
	case "crontab", "systemctl", "service", "ip":
		return func(w *walker, args []string, _ *source) { w.services(name, args) }
	case "docker", "podman", "nerdctl", "docker-compose":
		return (*walker).container
	case "gh", "glab", "aws", "gcloud", "gsutil", "kubectl", "oc", "helm", "vault", "az", "heroku", "gpg", "gpg2", "terraform", "tofu", "pulumi", "doctl", "flyctl", "fly", "vercel", "netlify", "wrangler", "eksctl", "ansible", "ansible-playbook", "op-cli", "age", "sops":
		return func(w *walker, args []string, _ *source) { w.cloud(name, args) }
	case "printenv":
		return (*walker).printenv
	}
	return nil
}
