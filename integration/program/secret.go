package program

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
)

// Secret is a user and a password that must never be shown. Core is a part of
// the password that no encoding of single characters changes.
type Secret struct{ User, Password, Core string }

// In says in which form the secret stands in the text: "" where it does not.
func (s Secret) In(text string) string {
	pair := []byte(s.User + ":" + s.Password)
	pair = pair[:len(pair)/3*3] // what follows changes no earlier letter
	quoted, err := json.Marshal(s.Password)
	if err != nil {
		panic(err)
	}
	for _, form := range []struct{ name, text string }{
		{"raw", s.Password},
		{"percent-encoded", url.UserPassword("", s.Password).String()[1:]},
		{"percent-encoded for a query", url.QueryEscape(s.Password)},
		{"in JSON", strings.Trim(string(quoted), `"`)},
		{"in part", s.Core},
		{"in base64", base64.RawStdEncoding.EncodeToString(pair)},
		{"in base64 for URLs", base64.RawURLEncoding.EncodeToString(pair)},
	} {
		if strings.Contains(text, form.text) {
			return form.name
		}
	}
	for shift := range 3 {
		if strings.Contains(text, inBase64(s.Core, shift)) {
			return "in base64 of a longer text"
		}
	}
	return ""
}

// inBase64 is the part of a base64 text that the word alone decides, where it
// stands so many bytes after a group of three.
func inBase64(word string, shift int) string {
	text := base64.RawStdEncoding.EncodeToString([]byte("\x00\x00"[:shift] + word))
	return text[(shift*8+5)/6 : (shift+len(word))*8/6]
}

// transcript is what the program said in all runs.
type transcript struct {
	mu   sync.Mutex
	runs []struct{ args, stream, text string }
}

// said belongs to the test process: it is searched when all tests have run.
var said transcript

// add appends the output of one run.
func (l *transcript) add(args, stdout, stderr string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.runs = append(l.runs,
		struct{ args, stream, text string }{args, "stdout", stdout},
		struct{ args, stream, text string }{args, "stderr", stderr})
}

// Said notes what the program printed where Run did not run it, as on a node.
func Said(args, stdout, stderr string) { said.add(args, stdout, stderr) }

// leaks says where the secret was shown.
func (l *transcript) leaks(s Secret) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, run := range l.runs {
		if form := s.In(run.text); form != "" {
			found = append(found, fmt.Sprintf("the password of %s stands %s on %s of: eksproxy %s",
				s.User, form, run.stream, run.args))
		}
	}
	return found
}

// Main runs the tests, and fails where any run showed one of the secrets.
func Main(m *testing.M, secrets ...Secret) int {
	code := m.Run()
	for _, s := range secrets {
		for _, leak := range said.leaks(s) {
			fmt.Fprintln(os.Stderr, "FAIL:", leak)
			code = 1
		}
	}
	return code
}
