package controlplane

import (
	"bufio"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// childVariable tells the test below that it is the process to be killed.
const childVariable = "CONTROLPLANE_TEST_CHILD"

func TestComponentsDieWithTheTestProcess(t *testing.T) {
	if os.Getenv(childVariable) != "" {
		cp := Start(t, Options{NoControllers: true})
		os.Stdout.WriteString("listens on " + strings.TrimPrefix(cp.URL(), "https://") + "\n")
		time.Sleep(time.Minute)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), childVariable+"=1", "TMPDIR="+t.TempDir()) // what it leaves is removed
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var address string
	for lines := bufio.NewScanner(out); address == "" && lines.Scan(); {
		_, address, _ = strings.Cut(lines.Text(), "listens on ")
	}
	cmd.Process.Kill()
	cmd.Wait()
	if address == "" {
		t.Fatal("the control plane of the other process did not start")
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(50 * time.Millisecond) {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		conn.Close()
		if time.Now().After(end) {
			t.Fatal("the API server runs on")
		}
	}
}
