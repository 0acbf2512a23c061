// Package moto runs moto's server, which stands for Secrets Manager and the SSM
// Parameter Store, and fills it. It asks nobody for a signature, but reads the
// region from it.
package moto

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Version is what is installed below .cache/venv.
const Version = "5.1.22"

// Region is where everything is created.
const Region = "eu-west-1"

// startLimit is how long the server may take until it answers.
const startLimit = 60 * time.Second

// install makes the virtual environment, once for all test processes, and
// returns the server's program.
var install = sync.OnceValues(func() (string, error) {
	mod, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("looking for the checkout: %w", err)
	}
	venv := filepath.Join(filepath.Dir(filepath.Dir(strings.TrimSpace(string(mod)))), ".cache", "venv")
	stamp, server := filepath.Join(venv, "moto-"+Version), filepath.Join(venv, "bin", "moto_server")
	if _, err := os.Stat(stamp); err == nil {
		return server, nil
	}
	for _, command := range [][]string{
		{"python3", "-m", "venv", venv}, // needs the package python3-venv
		{filepath.Join(venv, "bin", "pip"), "install", "--quiet", "--disable-pip-version-check", "moto[server]==" + Version},
	} {
		if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", fmt.Errorf("running %q: %w\n%s", command, err, out)
		}
	}
	return server, os.WriteFile(stamp, nil, 0o644)
})

// Server is a running moto.
type Server struct {
	// URL is its address, for AWS_ENDPOINT_URL and the like.
	URL string
}

// Start runs moto on a free port of this address until the test ends.
func Start(t *testing.T, host string) Server {
	t.Helper()
	program, err := install()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	_, port, _ := net.SplitHostPort(address)
	ctx, cancel := context.WithCancel(context.Background())
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-H", host, "-p", port)
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cancel()
		cmd.Wait()
	})
	s := Server{URL: "http://" + address}
	for start := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		resp, err := http.Get(s.URL + "/moto-api/")
		if err == nil {
			resp.Body.Close()
			return s
		}
		if time.Since(start) > startLimit {
			cancel()
			cmd.Wait()
			t.Fatalf("moto does not answer: %v\n%s", err, &said)
		}
	}
}

// PutSecret creates a secret, or gives it a new value, and returns its ARN.
func (s Server) PutSecret(t *testing.T, name, value string) string {
	t.Helper()
	in := map[string]any{"SecretId": name, "SecretString": value}
	status, out := s.call(t, "secretsmanager", "secretsmanager.PutSecretValue", in)
	if status != http.StatusOK {
		delete(in, "SecretId")
		in["Name"] = name
		status, out = s.call(t, "secretsmanager", "secretsmanager.CreateSecret", in)
	}
	arn, _ := out["ARN"].(string)
	if status != http.StatusOK || arn == "" {
		t.Fatalf("putting the secret %s: %d %v", name, status, out)
	}
	return arn
}

// DeleteSecret deletes a secret at once.
func (s Server) DeleteSecret(t *testing.T, name string) {
	t.Helper()
	in := map[string]any{"SecretId": name, "ForceDeleteWithoutRecovery": true}
	if status, out := s.call(t, "secretsmanager", "secretsmanager.DeleteSecret", in); status != http.StatusOK {
		t.Fatalf("deleting the secret %s: %d %v", name, status, out)
	}
}

// PutParameter creates or changes a parameter of this type, as in SecureString.
func (s Server) PutParameter(t *testing.T, name, kind, value string) {
	t.Helper()
	in := map[string]any{"Name": name, "Type": kind, "Value": value, "Overwrite": true}
	if status, out := s.call(t, "ssm", "AmazonSSM.PutParameter", in); status != http.StatusOK {
		t.Fatalf("putting the parameter %s: %d %v", name, status, out)
	}
}

// call asks one of the services.
func (s Server) call(t *testing.T, service, target string, in map[string]any) (int, map[string]any) {
	t.Helper()
	body, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequest(http.MethodPost, s.URL+"/", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.1")
	req.Header.Set("X-Amz-Target", target)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=test/20260101/"+Region+"/"+service+"/aws4_request, SignedHeaders=host, Signature=none")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	var out map[string]any
	if err := json.Unmarshal(data, &out); err != nil {
		t.Fatalf("%s: %d %s", target, resp.StatusCode, data)
	}
	return resp.StatusCode, out
}
