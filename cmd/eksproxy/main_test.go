package main

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "write what the program prints into the scripts, pages and golden files")

// scriptSecret is the password of every script; no output may hold it (BL-035).
const scriptSecret = "s3cret"

// TestMain makes the program, under both of its names, a command of the scripts.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"eksproxy": main, "kubectl-eksproxy": main})
}

// TestScripts runs the commands as processes. The scripts guard BL-013, BL-014,
// BL-015, BL-022, BL-031 and BL-035 from outside. go test ./cmd/eksproxy -run
// TestScripts -update writes what they print into the scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GORACE", "atexit_sleep_ms=0") // a second at the end of each process
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exit": exitCommand, "mode": modeCommand},
	})
}

// exitCommand is "exit CODE COMMAND...": the command must end with that code.
// What holds for every command is checked each time. Standard output is also in
// the file out, with $WORK in place of the directory of the script and DIGEST in
// place of a plan's digest, which covers it.
func exitCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exit CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	stdout, stderr := ts.ReadFile("stdout"), ts.ReadFile("stderr")
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
	checkStreams(ts, got, stdout, stderr, slices.Contains(args, "verify"))
	work := ts.Getenv("WORK")
	stdout = digest.ReplaceAllString(strings.ReplaceAll(stdout, work, "$WORK"), "DIGEST")
	ts.Check(os.WriteFile(filepath.Join(work, "out"), []byte(stdout), 0o600))
}

// talk is a line on standard error: a labelled one, coloured or not, or what is
// indented below one.
var talk = regexp.MustCompile(`^((\x1b\[3[0-9]m)?(error|warning|note): (\x1b\[0m)?\S| +\S)`)

// digest is the digest of a plan.
var digest = regexp.MustCompile(`\b[0-9a-f]{64}\b`)

// checkStreams holds the streams against what every command keeps to. Of those
// that could not decide only verify prints: a report of what it could.
func checkStreams(ts *testscript.TestScript, code int, stdout, stderr string, reports bool) {
	for line := range strings.Lines(stderr) {
		if !talk.MatchString(line) {
			ts.Fatalf("standard error has a line without label: %q", line)
		}
	}
	if code > exitNo && stdout != "" && (!reports || code != exitUndecided) {
		ts.Fatalf("exit code %d with standard output", code)
	}
	if code > exitNo && !strings.Contains(stderr, "error: ") {
		ts.Fatalf("exit code %d without an error", code)
	}
	if code == exitDone && strings.Contains(stderr, "error: ") {
		ts.Fatalf("exit code 0 with an error")
	}
	if strings.Contains(stdout+stderr, scriptSecret) {
		ts.Fatalf("the password is shown")
	}
}

// modeCommand is "mode OCTAL FILE...": the files have this mode.
func modeCommand(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: mode OCTAL FILE...")
	}
	for _, name := range args[1:] {
		info, err := os.Stat(ts.MkAbs(name))
		ts.Check(err)
		if got := "0" + strconv.FormatInt(int64(info.Mode().Perm()), 8); got != args[0] {
			ts.Fatalf("%s has mode %s, want %s", name, got, args[0])
		}
	}
}
