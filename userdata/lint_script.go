package userdata

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
)

var (
	appended   = regexp.MustCompile(`>>\s*["']?(/etc/environment|/etc/yum\.conf|/etc/dnf/dnf\.conf|/etc/systemd/)`)
	perBoot    = regexp.MustCompile(`^\s*cloud-init-per\s+(instance|once)\b`)
	blankList  = regexp.MustCompile(`^\s*export\s+(no_proxy|NO_PROXY)=[^"'\s]*,\s+[^\s#&|;]`)
	metadata   = regexp.MustCompile(`\b(curl|wget)\b.*169\.254\.169\.254/(latest|[0-9-]+)/(meta-data|dynamic|user-data)`)
	dropIn     = regexp.MustCompile(`/etc/systemd/system/(containerd|sandbox-image)\.service\.d/`)
	blocking   = regexp.MustCompile(`^\s*(?:cloud-init-per\s+\S+\s+\S+\s+)?systemctl\s+(?:start|restart|enable\s+--now)\s+(.*)$`)
	waitsForUs = regexp.MustCompile(`\b(docker|containerd|kubelet|amazon-ssm-agent|snap\.amazon-ssm-agent\S*|nodeadm-run|sandbox-image)\b`)
)

// script looks at the lines of a script for what reports of others showed.
func (l *linter) script(contentType string, body []byte, n, line int) {
	if isOurs(body) {
		return
	}
	hook := contentType == bootdata.TypeBoothook
	token := bytes.Contains(body, []byte("aws-ec2-metadata-token"))
	first := line
	drops := map[string]int{}
	for text := range strings.Lines(string(body)) {
		text = strings.TrimSuffix(text, "\n")
		if m := dropIn.FindStringSubmatch(text); m != nil {
			drops[m[1]] = line
		}
		if code := scriptFault(text, hook, token); code != "" {
			l.add(code, n, line, "")
		}
		line++
	}
	if at, ok := drops["containerd"]; ok && drops["sandbox-image"] == 0 && at >= first && l.OS == AL2 {
		l.add("UD043", n, at, "")
	}
}

// scriptFault is the code of the fault in one line of a script, if it has one.
func scriptFault(line string, hook, token bool) string {
	switch {
	case strings.HasPrefix(strings.TrimSpace(line), "#"):
		return ""
	case hook && appended.MatchString(line) && !perBoot.MatchString(line):
		return "UD040"
	case blankList.MatchString(line):
		return "UD041"
	case !token && metadata.MatchString(line):
		return "UD042"
	case hook && blocks(line):
		return "UD044"
	}
	return ""
}

// blocks says whether the line waits for a service that is ordered behind
// cloud-init.
func blocks(line string) bool {
	m := blocking.FindStringSubmatch(line)
	return m != nil && !strings.Contains(line, "--no-block") && waitsForUs.MatchString(m[1])
}
