package app

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// nodeHost spawns the child as the README tells hosts on Node, talks to it, and
// prints how it ended.
const nodeHost = `
const {spawn} = require('child_process')
const [script, bin, mode] = process.argv.slice(1)
const child = spawn('bash', ['-c', script, bin])
const frame = (id, method) => child.stdin.write(JSON.stringify({protocol: 'magi-code.local-agent', version: 1, id, method, params: {}}) + '\n')
let asked = false
child.stdin.on('error', () => {})
child.stdout.on('data', d => {
  if (asked) return
  asked = true
  if (mode === 'shutdown') frame('b', 'shutdown')
  else if (mode === 'eof') child.stdin.end()
  else child.kill(mode)
})
child.stdout.on('end', () => child.stdin.destroy())
child.on('close', (code, signal) => console.log('closed', code, signal))
frame('a', 'status')
`

// TestNodeHost: Node's spawn hands over sockets (decision 47); through the shell
// of NodeLaunch the child serves, and its end is its own.
func TestNodeHost(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is not installed")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	readme, err := os.ReadFile("../../README.md")
	if err != nil || !bytes.Contains(readme, []byte(NodeLaunch)) {
		t.Errorf("the README does not show the line that is tested: %v", err)
	}
	for mode, want := range map[string]string{"shutdown": "closed 0 null", "eof": "closed 0 null", "SIGTERM": "closed null SIGTERM", "SIGKILL": "closed null SIGKILL"} {
		t.Run(mode, func(t *testing.T) {
			cmd := exec.Command(node, "-e", nodeHost, NodeLaunch, exe, mode)
			cmd.Env = append(os.Environ(), asProgram+"=1", "MC_HOME="+t.TempDir())
			cmd.WaitDelay = 10 * time.Second
			out, err := cmd.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%q, %v; wanted %q", out, err, want)
			}
		})
	}
}
