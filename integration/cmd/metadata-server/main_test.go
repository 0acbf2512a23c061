package main

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestServesUntilStopped(t *testing.T) {
	userData := filepath.Join(t.TempDir(), "user-data")
	if err := os.WriteFile(userData, []byte("#!/bin/sh\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r, w := io.Pipe()
	done := make(chan error, 1)
	go func() {
		done <- run(ctx, []string{"--vpc-cidr", "10.40.0.0/16", "--vpc-cidr=100.64.0.0/16",
			"--vpc-ipv6-cidr", "2001:db8::/56", "--user-data", userData}, w)
	}()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	base := strings.TrimSpace(line) + "/2021-03-23/"
	mac := "meta-data/network/interfaces/macs/0a:00:00:00:00:01/"
	for path, want := range map[string]string{
		mac + "vpc-ipv4-cidr-blocks": "10.40.0.0/16\n100.64.0.0/16",
		mac + "vpc-ipv6-cidr-blocks": "2001:db8::/56",
		"user-data":                  "#!/bin/sh\n",
	} {
		resp, err := http.Get(base + path)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if string(got) != want {
			t.Errorf("%s: got %q, want %q", path, got, want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Errorf("stopping: %v", err)
	}
}
