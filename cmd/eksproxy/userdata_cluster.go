//go:build !nodeonly

package main

import (
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"strings"
)

// clusterCA reads the authority of the API server, and gives it in base64 of
// PEM, as EKS does.
func clusterCA(given string) (string, error) {
	if given == "" || isCA64(given) {
		return given, nil
	}
	data, err := os.ReadFile(given)
	if err != nil {
		var pathErr *os.PathError
		if errors.As(err, &pathErr) {
			err = pathErr.Err
		}
		return "", fmt.Errorf("reading --cluster-ca: it is neither base64 of a PEM certificate nor a file that can be read: %w", err)
	}
	text := strings.TrimSpace(string(data))
	if isCA64(text) {
		return text, nil
	}
	if block, _ := pem.Decode([]byte(text)); block == nil || block.Type != "CERTIFICATE" {
		return "", errors.New("reading --cluster-ca: the file holds no PEM certificate; aws eks describe-cluster --query cluster.certificateAuthority.data prints it")
	}
	return base64.StdEncoding.EncodeToString([]byte(text + "\n")), nil
}

func isCA64(text string) bool {
	data, err := base64.StdEncoding.DecodeString(text)
	return err == nil && strings.Contains(string(data), "-----BEGIN CERTIFICATE-----")
}
