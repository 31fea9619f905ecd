package protect

import "strings"

// readers look and compute; they change nothing.
var readers = set("ls ll dir cat bat head tail more wc uniq cut tr egrep fgrep rg ag ack tree file stat du df pwd echo true false test [ [[ date cal whoami id groups hostname uname " +
	"which type whereis basename dirname realpath readlink seq yes sleep diff cmp comm md5sum sha1sum sha256sum sha512sum cksum b2sum xxd od hexdump strings nl fold fmt column paste join expand rev tac " +
	"jq xmllint ps top uptime free lsof pgrep help jobs wait dirs shopt ulimit unset local readonly return exit break continue shift getopts read let : expr bc dc " +
	"nproc lscpu lsblk locale tty base64 base32 iconv gofmt goimports ctags cloc tokei scc sw_vers getconf grep printf logname users who w last vmstat iostat pstree uuidgen factor numfmt shuf tsort pr look cpp nm objdump readelf ldd size addr2line c++filt " +
	"mdfind plutil asciinema hyperfine-less ping6 traceroute mtr whois ss netstat")

// builders build, test, format and run the project's own code.
var builders = set("rustc rustfmt ninja meson bazel gradle gradlew mvn mvnw ant sbt javac java kotlinc scala dotnet msbuild swift xcodebuild gcc g++ cc c++ clang clang++ ld ar ranlib strip tsc eslint prettier biome " +
	"vite webpack rollup esbuild turbo nx jest vitest mocha playwright cypress pytest tox nox ruff black mypy flake8 isort pylint pyright rubocop rspec rake mix erl rebar3 cabal ghc zig dart flutter nim crystal composer phpunit task tup " +
	"golangci-lint staticcheck govulncheck gotestsum protoc buf shellcheck shfmt hadolint pre-commit cmake ctest as nasm clippy-driver sphinx-build mkdocs hugo jekyll pandoc pdflatex latexmk")

// changers write where all their operands say.
var changers = set("touch mkdir mkfifo dos2unix unix2dos mknod fallocate")

var downloaders = set("curl wget fetch aria2c http https xh lwp-request GET ftp tftp scp axel lynx links w3m youtube-dl curlie httpie")

func set(names string) map[string]bool {
	m := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		m[n] = true
	}
	return m
}

type verdict struct {
	kind  int
	score float64
}

// severe programs are dangerous whatever they are told.
var severe = severities(map[verdict]string{
	{destruction, 2}: "mkfs mke2fs mkswap wipefs fdisk sfdisk cfdisk gdisk sgdisk parted diskutil blkdiscard shutdown reboot halt poweroff telinit init lvremove vgremove pvremove pvcreate mdadm zpool dmsetup cryptsetup hdparm nvme flashrom " +
		"fastboot debugfs newfs newfs_apfs newfs_hfs format killall5 asr",
	{destruction, 1.8}: "badblocks zfs tune2fs resize2fs swapoff losetup fsck e2fsck efibootmgr grub-install update-grub bootctl dropdb tmutil fstrim xfs_repair",
	{privilege, 2}: "useradd userdel usermod groupadd groupdel groupmod passwd chpasswd visudo vipw adduser deluser addgroup dscl dseditgroup insmod modprobe rmmod kextload kextunload kmutil depmod setenforce iptables ip6tables nft ufw firewall-cmd pfctl csrutil spctl " +
		"setcap capsh nsenter update-rc.d chkconfig rc-update loginctl newgrp chsh pam-auth-update auditctl aa-disable aa-teardown nvram bless systemsetup pmset-all",
	{privilege, 1.9}:   "sysctl at batch atrm launchctl schtasks reg sc crontab-ui anacron initctl insserv sv update-alternatives",
	{privilege, 1.8}:   "mount umount defaults apt apt-get aptitude yum dnf pacman apk zypper dpkg rpm snap flatpak emerge port winget choco nix-env ip-link networksetup nmcli route ifconfig hostnamectl timedatectl sshd xhost chntpw bpftool bpftrace ptrace",
	{untrusted, 1.9}:   "socat ngrok cloudflared msfconsole msfvenom chisel frpc",
	{untrusted, 1.8}:   "nc ncat netcat telnet rsh rlogin rexec nmap hydra sqlmap mosh",
	{credentials, 1.9}: "security pass secret-tool keyctl gpg-preset-passphrase lpass bw 1password keychain mimikatz tcpdump wireshark tshark dumpcap xinput screencapture",
	{credentials, 1.8}: "scp sftp ssh-add ssh-copy-id rclone s3cmd mail mailx sendmail mutt magic-wormhole wormhole croc rcp",
})

func severities(table map[verdict]string) map[string]verdict {
	m := map[string]verdict{}
	for v, names := range table {
		for n := range strings.FieldsSeq(names) {
			m[n] = v
		}
	}
	return m
}
