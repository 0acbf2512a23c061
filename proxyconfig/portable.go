package proxyconfig

import (
	"errors"
	"fmt"
	"strings"

	"github.com/eksproxy/eksproxy/facts"
)

// Portable is a configuration for another machine: one document, and the files
// that it names, by the names beside it.
type Portable struct {
	Config []byte
	// CredentialsFile and TrustedCA are empty where none is named.
	Credentials, TrustedCA []byte
}

// The names of the files beside a portable configuration.
const (
	PortableCredentials = "proxy-login"
	PortableCA          = "trusted-ca.pem"
)

// Portable makes one document of what was given for a scope, whatever its
// sources, without the defaults. Passwords go into a file of their own, never
// into the document.
func (l Layer) Portable(scope string) (Portable, error) {
	out, given := Portable{}, Layer{}
	for path, v := range l.In(scope) {
		if v.Origin.Level > Default {
			given[path] = v
		}
	}
	for _, path := range []string{pathHTTPProxy, pathHTTPSProxy} {
		if strings.Contains(given[path].Text(), "@") {
			return out, fmt.Errorf("%s: %s holds a password, which would stand in a file that everyone can read; keep user:password in a file and name it as credentials.file", given[path].Origin, path)
		}
	}
	var errs []error
	if v := given[pathCredentialsFrom]; strings.HasPrefix(v.Text(), "file:") {
		v.Items[0].Text = strings.TrimPrefix(v.Text(), "file:")
		given[pathCredentialsFile] = v
		delete(given, pathCredentialsFrom)
	}
	errs = append(errs, given.carry(pathCredentialsFile, PortableCredentials, &out.Credentials))
	if !strings.Contains(given[pathTrustedCA].Text(), "-----BEGIN ") {
		errs = append(errs, given.carry(pathTrustedCA, PortableCA, &out.TrustedCA))
	}
	text, err := given.View().YAML(false)
	out.Config = fmt.Appendf(nil, "apiVersion: %s\nkind: %s\n%s", facts.APIVersion, Kind, text)
	return out, errors.Join(append(errs, err)...)
}

// carry reads the file that a field names, and names the one beside instead.
func (l Layer) carry(path, name string, data *[]byte) (err error) {
	v, ok := l[path]
	if !ok || v.Text() == "" {
		return nil
	}
	file, err := beside(v.Origin, v.Text())
	if err == nil {
		*data, err = ReadTrusted(file)
	}
	if err != nil {
		return fmt.Errorf("%s: reading the file of %s: %w", v.Origin, path, err)
	}
	l.Set(path, v.Origin, name)
	return nil
}
