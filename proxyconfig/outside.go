package proxyconfig

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The kinds of references that this package knows by name.
const (
	fileRef = "file:"
	// SSMRef starts a reference to a parameter of the SSM Parameter Store. A
	// configuration can come from there as well.
	SSMRef = "ssm:"
)

// authenticate gives both proxies the credentials that are kept apart.
func (r *resolver) authenticate(httpURL, httpsURL URL) (URL, URL) {
	ref, plain, ok := r.reference()
	if !ok || httpURL.IsZero() {
		return httpURL, httpsURL
	}
	if httpURL.HasCredentials() || httpsURL.HasCredentials() {
		r.fault(ref.Origin, errors.New("the proxy URL holds credentials as well; take them out of the URL"))
		return httpURL, httpsURL
	}
	c, err := r.credentials(ref, plain)
	if err != nil {
		r.fault(ref.Origin, err)
		return httpURL, httpsURL
	}
	return httpURL.With(c), httpsURL.With(c)
}

// reference says where the credentials are. A plain one is the name of a file
// with user:password and nothing else.
func (r *resolver) reference() (ref Value, plain, ok bool) {
	file, hasFile := r.layer.at(r.scope, pathCredentialsFile)
	from, hasFrom := r.layer.at(r.scope, pathCredentialsFrom)
	hasFile, hasFrom = hasFile && file.Text() != "", hasFrom && from.Text() != ""
	switch {
	case hasFile && hasFrom:
		r.fault(from.Origin, fmt.Errorf("credentials are given twice, the other time at %s; keep one of file and from", file.Origin))
		return Value{}, false, false
	case hasFile:
		return file, true, true
	}
	return from, false, hasFrom
}

// credentials reads or fetches what a reference names.
func (r *resolver) credentials(ref Value, plain bool) (Credentials, error) {
	if plain {
		return readCredentials(ref.Origin, ref.Text(), ParseCredentials)
	}
	if name, ok := strings.CutPrefix(ref.Text(), fileRef); ok {
		return readCredentials(ref.Origin, name, func(data []byte) (Credentials, error) { return ParseSecret(data, "") })
	}
	if r.fetch == nil { // not quoted: it may be the credentials themselves
		return Credentials{}, errors.New("the credentials' reference is not to a file, and nothing else is resolved here; allowed: file:PATH")
	}
	c, err := r.fetch(ref.Text())
	r.config.KeepCredentials = err == nil
	return c, err
}

func readCredentials(o Origin, name string, parse func([]byte) (Credentials, error)) (Credentials, error) {
	path, err := beside(o, name)
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the credentials: %w", err)
	}
	data, err := ReadTrusted(path)
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok && strings.Contains(name, ":") { // not quoted either
		err = fmt.Errorf("%w; give the name of a file that holds user:password, not the credentials themselves", pathErr.Err)
	}
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the credentials: %w", err)
	}
	c, err := parse(data)
	if err != nil {
		return Credentials{}, fmt.Errorf("reading the credentials from %s: %w", name, err)
	}
	return c, nil
}

// beside makes a relative path in a configuration file relative to that file.
func beside(o Origin, path string) (string, error) {
	switch {
	case o.Level != File || filepath.IsAbs(path):
		return path, nil
	case o.remote():
		return "", fmt.Errorf("the file's name is relative, and %s is in no folder; give the whole path, as in /etc/eksproxy/NAME", o.Name)
	}
	return filepath.Join(filepath.Dir(o.Name), path), nil
}

// remote says that the file is none of this machine.
func (o Origin) remote() bool { return o.Level == File && strings.HasPrefix(o.Name, SSMRef) }

// ReadTrusted reads a file that decides what this program does. One that
// others can write is refused: they could lead a whole node to a proxy of
// theirs.
func ReadTrusted(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if who := otherWriters(info); info.Mode().IsRegular() && who != "" {
		return nil, fmt.Errorf("%s can be written by %s; look at what it says, then run: chmod go-w %s", name, who, name)
	}
	return io.ReadAll(f)
}

func (r *resolver) authority() {
	v, ok := r.layer.at(r.scope, pathTrustedCA)
	if !ok || v.Text() == "" {
		return
	}
	data := []byte(v.Text())
	if !strings.Contains(v.Text(), pemStart) {
		path, err := beside(v.Origin, v.Text())
		if err == nil {
			data, err = ReadTrusted(path)
		}
		if err != nil {
			r.fault(v.Origin, fmt.Errorf("reading the trusted CA: %w", err))
			return
		}
	}
	cas, err := ParseCAs(data)
	if err != nil {
		r.fault(v.Origin, fmt.Errorf("reading the trusted CA: %w", err))
	}
	for _, ca := range cas {
		if time.Now().After(ca.NotAfter) {
			r.warn("%s: the certificate %q expired on %s", v.Origin, ca.Subject, ca.NotAfter.Format(time.DateOnly))
		}
	}
	r.config.CAs = cas
}
