//go:build integration

package noproxy_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/eksproxy/eksproxy/noproxy"
)

// askInNamespace asks one client about every vector. It runs in namespaces of
// its own.
func askInNamespace(t *testing.T, cache, name string) {
	t.Helper()
	closeNetwork(t)
	all := conformanceVectors()
	var atProxy, atHosts atomic.Int64
	listen(t, proxyAddress, &atProxy)
	for _, port := range portsOf(all) {
		listen(t, "[::]:"+port, &atHosts)
	}
	for _, c := range realClients(cache) {
		if c.name != name {
			continue
		}
		model, _ := noproxy.FindClient(c.model)
		asker := &asker{t: t, client: c}
		defer asker.stop()
		var seen []observation
		for i, v := range all {
			if c.skip != nil && c.skip(v) {
				continue
			}
			proxy, hosts := atProxy.Load(), atHosts.Load()
			said := asker.ask(v)
			// A client that does not wait for an answer may be faster than accept.
			patience := 500
			if expected(t, model, v) == noproxy.Failed {
				patience = 10
			}
			for wait := 0; wait < patience && atProxy.Load() == proxy && atHosts.Load() == hosts; wait++ {
				time.Sleep(4 * time.Millisecond)
			}
			seen = append(seen, observation{i, decisionOf(atProxy.Load()-proxy, atHosts.Load()-hosts), said})
		}
		data, err := json.Marshal(seen)
		if err == nil {
			err = os.WriteFile(os.Getenv("EKSPROXY_TEST_RESULTS"), data, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func decisionOf(atProxy, atHosts int64) noproxy.Decision {
	switch {
	case atProxy > 0 && atHosts > 0:
		return "both"
	case atProxy > 0:
		return noproxy.Proxied
	case atHosts > 0:
		return noproxy.Direct
	}
	return noproxy.Failed
}

// closeNetwork makes every address the machine's own and replaces the hosts
// file.
func closeNetwork(t *testing.T) {
	t.Helper()
	for _, args := range []string{"link set lo up", "route add local 0.0.0.0/0 dev lo", "-6 route add local ::/0 dev lo"} {
		if out, err := exec.Command("ip", strings.Fields(args)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s (iproute2): %v\n%s", args, err, out)
		}
	}
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		t.Fatalf("keeping mounts private: %v", err)
	}
	for _, file := range []string{"/etc/hosts", "/etc/resolv.conf"} {
		if err := syscall.Mount(os.Getenv("EKSPROXY_TEST_HOSTS"), file, "", syscall.MS_BIND, ""); err != nil {
			t.Fatalf("replacing %s: %v", file, err)
		}
	}
}

// listen counts connections and answers requests shortly.
func listen(t *testing.T, address string, count *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			count.Add(1)
			go answer(connection)
		}
	}()
}

func answer(connection net.Conn) {
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(3 * time.Second))
	reader := bufio.NewReader(connection)
	first, err := reader.ReadString('\n')
	if err != nil || !strings.Contains(first, "HTTP/") {
		return
	}
	for line := first; line != "\r\n" && line != "\n" && err == nil; {
		line, err = reader.ReadString('\n')
	}
	status := "200 OK"
	if strings.HasPrefix(first, "CONNECT ") {
		status = "403 Forbidden"
	}
	fmt.Fprintf(connection, "HTTP/1.1 %s\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n", status)
}

// asker keeps a client's driver.
type asker struct {
	t      *testing.T
	client realClient
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errors bytes.Buffer
}

// ask has the client make the request and gives what it said.
func (a *asker) ask(v vector) string {
	if a.client.once != nil {
		cmd := a.client.once(v)
		out, err := cmd.CombinedOutput()
		return fmt.Sprintf("%v %s", err, bytes.TrimSpace(out))
	}
	fresh := a.client.fresh != nil && a.client.fresh(v)
	if fresh {
		a.stop()
	}
	if a.cmd == nil {
		a.start(v)
	}
	encode := a.client.encode
	if encode == nil {
		encode = encodeJSON
	}
	_, _ = fmt.Fprintln(a.in, encode(v))
	line, err := a.out.ReadString('\n')
	if err != nil {
		line = fmt.Sprintf("the driver ended: %s", bytes.TrimSpace(a.errors.Bytes()))
		a.stop()
	}
	if fresh {
		a.stop()
	}
	return strings.TrimSpace(line)
}

func (a *asker) start(v vector) {
	a.errors.Reset()
	a.cmd = withEnv(exec.Command(a.client.driver[0], a.client.driver[1:]...), v)
	a.cmd.Stderr = &a.errors
	in, err := a.cmd.StdinPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		a.t.Fatal(err)
	}
	a.in, a.out = in, bufio.NewReader(out)
	if err := a.cmd.Start(); err != nil {
		a.t.Fatal(err)
	}
}

func (a *asker) stop() {
	if a.cmd == nil {
		return
	}
	_ = a.in.Close()
	_ = a.cmd.Process.Kill()
	_ = a.cmd.Wait() // it was killed
	a.cmd = nil
}
