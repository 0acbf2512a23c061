package controlplane

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"
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
	key, err := writeKey(private)
	if err != nil {
		return err
	}
	half, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return fmt.Errorf("encoding the key of ServiceAccounts: %w", err)
	}
	return writePEM(public, "PUBLIC KEY", half)
}

// writeCertificate writes a certificate for all servers, which is its own
// authority. The RSA keys that each would make for itself, and every handshake
// with them, cost more than all else of a start.
func writeCertificate(certificate, private string) error {
	key, err := writeKey(private)
	if err != nil {
		return err
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "controlplane"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return fmt.Errorf("making the certificate of the servers: %w", err)
	}
	return writePEM(certificate, "CERTIFICATE", der)
}

// writeKey makes a private key.
func writeKey(path string) (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("making a key: %w", err)
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("encoding a key: %w", err)
	}
	return key, writePEM(path, "EC PRIVATE KEY", der)
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
