package controlplane

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// admin may do everything; the others are the components and the users of
// tests, who may do nothing until a test gives them a role.
const admin = "admin"

// Users are the names that UserKubeconfig takes. They are in no group but
// system:authenticated, so that a test can say which rights suffice.
func Users() []string {
	return []string{"user0", "user1", "user2", "user3", "user4", "user5", "user6", "user7"}
}

// token is the bearer token of a user. It is no secret: the server listens on
// the loopback and holds nothing.
func token(user string) string { return "token-" + strings.ReplaceAll(user, ":", "-") }

// writeTokens writes the file by which the API server knows its users.
func writeTokens(path string) error {
	var text strings.Builder
	add := func(user, group string) { fmt.Fprintf(&text, "%s,%s,%s%s\n", token(user), user, user, group) }
	add(admin, `,"system:masters"`)
	add("kwok", `,"system:masters"`)
	add("system:kube-controller-manager", "")
	add("system:kube-scheduler", "")
	for _, user := range Users() {
		add(user, "")
	}
	return os.WriteFile(path, []byte(text.String()), 0o600)
}

// writeKeys writes the key pair that signs the tokens of ServiceAccounts.
func writeKeys(private, public string) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return fmt.Errorf("making the key of ServiceAccounts: %w", err)
	}
	half, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return fmt.Errorf("encoding the key of ServiceAccounts: %w", err)
	}
	if err := writePEM(private, "RSA PRIVATE KEY", x509.MarshalPKCS1PrivateKey(key)); err != nil {
		return err
	}
	return writePEM(public, "PUBLIC KEY", half)
}

// writePEM writes one block.
func writePEM(path, kind string, data []byte) error {
	return os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: data}), 0o600)
}

// writeKubeconfig writes how to reach a server as a user, and returns where.
func writeKubeconfig(dir, user, url, ca string) (string, error) {
	path := filepath.Join(dir, strings.ReplaceAll(user, ":", "-")+".kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %[1]s
clusters:
- name: controlplane
  cluster: {server: %[2]q, certificate-authority: %[3]q}
users:
- name: %[1]q
  user: {token: %[4]q}
contexts:
- name: %[1]s
  context: {cluster: controlplane, user: %[1]q}
`, user, url, ca, token(user))
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return "", fmt.Errorf("writing the kubeconfig of %s: %w", user, err)
	}
	return path, nil
}
