package userdata

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
)

// part looks at one part, which begins at this line.
func (l *linter) part(p bootdata.Part, n, line int) {
	l.secrets(p.Body, n, line)
	switch {
	case p.ContentType == bootdata.TypeNodeConfig:
		l.nodeConfig(p.Body, n, line)
	case p.ContentType == bootdata.TypePlain && looksTOML(p.Body):
		l.add("UD022", n, line, "")
	case !isKnown(p.ContentType):
		l.add("UD015", n, line, "")
	}
	if !p.IsShell() {
		return
	}
	body := bootdata.LF(p.Body)
	if strings.HasPrefix(p.ContentType, bootdata.TypeShell) && bytes.HasPrefix(body, []byte("#cloud-boothook")) {
		l.add("UD012", n, line, "it begins with #cloud-boothook, and its type says script")
	} else if !hasInterpreter(p.ContentType, body) {
		l.add("UD011", n, line, "")
	}
	l.script(p.ContentType, body, n, line)
}

// hasInterpreter says whether the kernel finds the interpreter: cloud-init
// strips the first line of a boothook and blank text, and nothing of a script.
func hasInterpreter(contentType string, body []byte) bool {
	if contentType == bootdata.TypeBoothook {
		body = bytes.TrimLeft(bytes.TrimPrefix(body, []byte("#cloud-boothook")), " \t\n")
	}
	return bytes.HasPrefix(body, []byte("#!"))
}

// isKnown says whether cloud-init or nodeadm has a reader for the type.
func isKnown(contentType string) bool {
	switch contentType {
	case bootdata.TypeNodeConfig, bootdata.TypeBoothook, bootdata.TypeCloudConfig, "text/cloud-config-archive",
		"text/cloud-config-jsonp", "text/jinja2", "text/part-handler", "text/x-include-url", "text/x-include-once-url":
		return true
	}
	rest, ok := strings.CutPrefix(contentType, bootdata.TypeShell)
	switch rest {
	case "", "-per-boot", "-per-instance", "-per-once":
		return ok
	}
	return false
}

// nodeConfig decodes as strictly as nodeadm does not.
func (l *linter) nodeConfig(body []byte, n, line int) {
	_, err := bootdata.DecodeNodeConfig(body, true)
	if err == nil {
		return
	}
	text := strings.TrimPrefix(err.Error(), "decoding the NodeConfig: ")
	if m := faultLine.FindStringSubmatch(text); m != nil {
		line += atoi(m[1]) - 1
		text = m[2]
	}
	l.add("UD024", n, line, "%s", text)
}

var (
	faultLine = regexp.MustCompile(`^line ([0-9]+): (.*)$`)
	// secretURL has a password in its user information; a variable or a
	// placeholder in its place is none.
	secretURL = regexp.MustCompile(`://[^/\s:@'"]*:([^\s@'"]+)@`)
	// secretBare is the same of a proxy variable without a scheme.
	secretBare = regexp.MustCompile(`(?i)\b(?:https?|all)_?-?proxy["']?\s*[=:]\s*["']?[^/\s:@'"]+:([^\s@'"/]+)@`)
	secretKey  = regexp.MustCompile(`(?i)(?:proxy_password|proxy_pass|proxy-authorization|aws_secret_access_key)["']?\s*[=:]\s*["']?(?:basic\s+)?([^\s'"]+)`)
	privateKey = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----`)
)

func atoi(digits string) int {
	n := 0
	for _, d := range digits {
		n = n*10 + int(d-'0')
	}
	return n
}

// secrets names the lines that hold one, and what it is of.
func (l *linter) secrets(body []byte, n, line int) {
	for text := range bytes.Lines(body) {
		switch {
		case privateKey.Match(text):
			l.add("UD023", n, line, "a private key")
		case hasSecret(secretURL, text), hasSecret(secretBare, text):
			l.add("UD023", n, line, "a password in a URL")
		case hasSecret(secretKey, text):
			l.add("UD023", n, line, "a password or key in a setting")
		}
		line++
	}
}

func hasSecret(pattern *regexp.Regexp, line []byte) bool {
	for _, m := range pattern.FindAllSubmatch(line, -1) {
		if value := m[1]; value[0] != '$' && value[0] != '<' && value[0] != '{' && !bytes.HasPrefix(value, []byte("%s")) {
			return true
		}
	}
	return false
}

// tooLate notes a proxy that only a script sets, where nodeadm is told of the
// cluster in the same document.
func (l *linter) tooLate(t bootdata.Text) {
	early, joins, at := false, false, -1
	for i, p := range t.Parts {
		parts, err := p.Parts()
		if err != nil {
			return
		}
		for _, q := range parts {
			if q.ContentType == bootdata.TypeNodeConfig {
				c, _ := bootdata.DecodeNodeConfig(q.Body, false)
				joins = joins || c.Spec.Cluster.Name != ""
				early = early || len(c.Spec.Instance.Environment) > 0
			} else if at < 0 && q.IsShell() && !isOurs(q.Body) && findRecipe(q).cut != nil {
				at = i
			}
		}
	}
	if joins && !early && at >= 0 {
		l.add("UD025", at+1, t.Parts[at].Line, "")
	}
}
