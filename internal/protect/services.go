package protect

import "strings"

func (w *walker) kill(name string, args []string) {
	w.raise(overall, 1)
	ops := operands(args)
	switch name {
	case "kill":
		for i, a := range args {
			if (a == "1" || a == "-1" || a == "0") && i == len(args)-1 && (len(args) > 1 || a == "1") {
				w.raise(destruction, 2)
			}
		}
	case "fuser":
		if flag(args, "-k") {
			w.raise(destruction, 1.2)
		}
	default:
		if flag(args, "-u", "--user", "-U", "--euid", "--uid") || len(ops) == 0 || len(ops) == 1 && everything(ops[0]) {
			w.raise(destruction, 1.8)
		}
		for _, o := range ops {
			if o == "systemd" || o == "init" || o == "sshd" || o == "launchd" || o == "WindowServer" || o == "Finder" || o == "magi-code" {
				w.raise(destruction, 1.8)
			}
		}
	}
}

func (w *walker) services(name string, args []string) {
	verb := firstOperand(args)
	switch {
	case name == "crontab" && flag(args, "-l"):
		w.raise(overall, 0.3)
	case name == "ip":
		w.raise(overall, 0.1)
		for _, v := range []string{"add", "del", "delete", "set", "flush", "change", "replace"} {
			if contains(args, v) {
				w.raise(privilege, 1.8)
			}
		}
	case name == "systemctl" && (verb == "status" || verb == "show" || verb == "cat" || strings.HasPrefix(verb, "list-") || strings.HasPrefix(verb, "is-")):
		w.raise(overall, 0.1)
	case name == "service" && (flag(args, "--status-all") || strings.HasSuffix(strings.Join(args, " "), " status")):
		w.raise(overall, 0.1)
	default:
		w.raise(privilege, 2)
	}
}

var containerReads = set("ps images logs inspect version info top stats port history search events diff config ls")

func (w *walker) container(args []string, _ *source) {
	ops := operands(args)
	if len(ops) > 0 && ops[0] == "compose" {
		ops = ops[1:]
	}
	verb := ""
	if len(ops) > 0 {
		verb = ops[0]
	}
	w.raise(overall, 1)
	if containerReads[verb] && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		w.scores[overall] = max(w.scores[overall], 0.3)
	}
	w.containerMounts(args)
	if verb == "exec" {
		w.carries(args[min(1, len(args)):], nil)
	}
	if flag(args, "--privileged", "--cap-add", "--device", "--security-opt", "--userns") || containsAny(args, "--pid=host", "--ipc=host", "--uts=host", "--cgroupns=host") || strings.Contains(strings.Join(args, " "), "--pid host") {
		w.raise(privilege, 2)
	}
	line := " " + strings.Join(ops, " ") + " "
	switch {
	case verb == "login" || verb == "push":
		w.raise(credentials, 1.8)
	case strings.Contains(line, " prune "), strings.Contains(line, "volume rm "), verb == "down" && flag(args, "-v", "--volumes", "--rmi"), verb == "swarm", strings.Contains(line, "volume remove "):
		w.raise(destruction, 1.8)
	case (verb == "rm" || verb == "rmi" || verb == "kill" || verb == "stop") && (flag(args, "-f", "--force", "-v") || strings.Contains(line, hidden)):
		w.raise(destruction, 1.5)
	}
}

func containsAny(list []string, any ...string) bool {
	for _, a := range any {
		if contains(list, a) {
			return true
		}
	}
	return false
}

// containerMounts: a folder of the host inside a container is as good as root on it.
func (w *walker) containerMounts(args []string) {
	for _, v := range values(args, "-v", "--volume", "--mount") {
		host := v
		for part := range strings.SplitSeq(v, ",") {
			if src, ok := strings.CutPrefix(part, "source="); ok {
				host = src
			} else if src, ok := strings.CutPrefix(part, "src="); ok {
				host = src
			}
		}
		host, _, _ = strings.Cut(host, ":")
		if !strings.ContainsAny(host[:min(1, len(host))], "/.~") && !unseen(host) {
			continue // a named volume
		}
		if z := w.zoneOf(host); z > zoneUnknown {
			w.raise(privilege, 2)
		} else if z == zoneUnknown {
			w.raise(privilege, 1.5)
		}
		if w.secretTree(host) {
			w.raise(credentials, 1.9)
		}
	}
}

// secretWords and lossWords stand in the command lines of services.
var (
	secretWords = strings.Fields("token print-access-token print-identity-token secret secrets get-session-token get-login-password login configure --export-secret-keys --export-secret-key get-secret-value show-token --decrypt --show-token create-access-key --raw kubeconfig update-kubeconfig get-credentials get-token ssh-key pem impersonate decrypt")
	lossWords   = strings.Fields("delete destroy rm rb terminate-instances drop drain uninstall delete-stack delete-bucket delete-db-instance delete-object delete-objects delete-secret --delete-key --delete-secret-keys --delete-secret-key purge empty apply-destroy --auto-approve -auto-approve undeploy remove down cordon scale down")
)

// cloud judges command lines of services by the words that show or change secrets.
func (w *walker) cloud(name string, args []string) {
	w.raise(overall, 1.2)
	if contains(args, "--dry-run") || contains(args, "--dry-run=client") || name == "terraform" && containsAny(args, "plan", "validate", "fmt", "show") {
		return
	}
	words := strings.Fields(strings.Join(args, " "))
	for _, a := range words {
		switch {
		case contains(secretWords, a), name == "vault" && (a == "read" || a == "kv"), (name == "gpg" || name == "gpg2" || name == "age" || name == "sops") && (a == "-d"), strings.HasPrefix(a, "secret/"), strings.HasPrefix(a, "secrets/"):
			if !contains(args, "status") && !contains(args, "list") {
				w.raise(credentials, 1.9)
			}
		case contains(lossWords, a), a == "-X" && name == "gh" && strings.Contains(strings.Join(args, " "), "DELETE"):
			w.raise(destruction, 1.8)
		case (name == "kubectl" || name == "oc") && (a == "exec" || a == "apply" || a == "replace" || a == "cp" || a == "run") && strings.Contains(strings.Join(args, " "), "://"):
			w.raise(untrusted, 1.9)
		case a == "--privileged", (name == "ansible" || name == "ansible-playbook") && (a == "-b" || a == "--become"):
			w.raise(privilege, 2)
		}
	}
	if (name == "kubectl" || name == "oc") && contains(args, "exec") {
		w.carries(args, nil)
	}
	if name == "ansible" || name == "ansible-playbook" {
		w.raise(untrusted, 1.8)
	}
	if (name == "aws" && contains(args, "s3") || name == "gsutil") && containsAny(args, "cp", "sync", "mv") {
		w.raise(credentials, 1.4)
	}
}
