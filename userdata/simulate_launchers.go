package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"net/textproto"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/bootdata"
)

const (
	launcherBoundary = "//"
	launcherTop      = "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"//\"\n\n"
	scriptType       = bootdata.TypeShell + `; charset="us-ascii"`
)

// ownPart is what EKS and Karpenter add behind the others: on equal keys it wins.
func (s *simulator) ownPart() sent {
	if s.OS == AL2023 {
		n := bootdata.NewNodeConfig()
		n.Spec.Cluster = s.Cluster
		s.own(bootdata.TypeNodeConfig, "comes last, and so wins where keys are equal")
		return sentAs(bootdata.TypeNodeConfig, n.Encode())
	}
	s.own(bootdata.TypeShell, "a shell of its own: what other scripts export does not reach it")
	return sentAs(scriptType, fmt.Appendf(nil, "#!/bin/bash\nset -ex\n/etc/eks/bootstrap.sh %s --apiserver-endpoint %s --b64-cluster-ca %s\n",
		s.Cluster.Name, s.Cluster.APIServerEndpoint, s.Cluster.CertificateAuthority))
}

// managed: EKS takes multipart alone, keeps the parts with their headers, and
// adds its own behind them.
func (s *simulator) managed() {
	switch {
	case s.OS == Ubuntu:
		s.refuse("EKS has no Ubuntu image for managed node groups; take managed-node-group-custom-ami")
		return
	case s.gzip:
		s.refuse("EKS merges its own part into the document, and is not known to take gzip; give it uncompressed")
		return
	case !startsMIME(s.raw, strings.EqualFold):
		s.refuse("EKS takes MIME multipart alone, and this begins with neither MIME-Version nor Content-Type; eksproxy userdata merge wraps it")
		return
	}
	t := bootdata.ReadText(s.raw)
	for _, f := range t.Faults {
		if f.Kind == bootdata.FaultTopEmpty || f.Kind == bootdata.FaultNoBoundary || f.Kind == bootdata.FaultNoParts {
			s.refuse("line %d: %s", f.Line, rules()[codeOf(f.Kind)].Title)
			return
		}
	}
	var parts []sent
	for _, p := range t.Parts {
		s.asCloudInit(p, Kept, "")
		parts = append(parts, withHeader(p))
	}
	s.Document = assemble(append(parts, s.ownPart()))
}

// startsMIME says whether a launcher takes the text for MIME.
func startsMIME(text []byte, equal func(a, b string) bool) bool {
	for _, name := range []string{"MIME-Version:", "Content-Type:"} {
		if len(text) >= len(name) && equal(string(text[:len(name)]), name) {
			return true
		}
	}
	return false
}

func withHeader(p bootdata.TextPart) sent {
	q := sent{body: p.Body}
	for _, f := range p.Fields {
		q.headers = append(q.headers, f.Name+": "+f.Value)
	}
	return q
}

// karpenter: the amiFamily follows from the system.
func (s *simulator) karpenter() {
	if s.OS == Ubuntu {
		s.untouched("amiFamily Custom: Karpenter hands the document on as it is")
		return
	}
	trimmed := bytes.TrimSpace(s.raw)
	var parts []sent
	switch {
	case s.gzip:
		s.fate("application/gzip", Lost, "Karpenter takes no gzip, and sends it as a script")
	case len(trimmed) == 0:
	case startsMIME(trimmed, func(a, b string) bool { return a == b }):
		if parts = s.archive(); s.Refused != "" {
			return
		}
	default:
		parts = []sent{s.guessed()}
	}
	s.Document = assemble(append(parts, s.ownPart()))
}

// guessed is text without MIME: for AL2023 a NodeConfig where it is a map of
// YAML, else a script.
func (s *simulator) guessed() sent {
	kind := bootdata.TypeOf(s.raw)
	as, header := bootdata.TypeShell, scriptType
	if s.OS == AL2023 && yaml.Unmarshal(s.raw, &map[string]any{}) == nil {
		as, header = bootdata.TypeNodeConfig, bootdata.TypeNodeConfig
	}
	if kind == as {
		s.fate(kind, Kept, "")
	} else {
		s.fate(kind, Lost, "Karpenter takes it for a "+kindOf(bootdata.Part{ContentType: as})+"; write MIME multipart")
	}
	return sentAs(header, s.raw)
}

// archive reads the parts as Karpenter does, with Go's own reader.
func (s *simulator) archive() []sent {
	message, err := mail.ReadMessage(bytes.NewReader(s.raw))
	if err != nil {
		s.refuse("Karpenter cannot read the MIME header, and launches no node; eksproxy userdata lint says where")
		return nil
	}
	mediaType, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") {
		s.refuse("Karpenter takes a MIME document only as multipart, and launches no node")
		return nil
	}
	var out []sent
	for r := multipart.NewReader(message.Body, params["boundary"]); ; {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			s.refuse("Karpenter cannot read part %d, and launches no node; eksproxy userdata lint says where", len(out)+1)
			return nil
		}
		body, err := io.ReadAll(p)
		if err != nil {
			s.refuse("Karpenter finds no closing boundary, and launches no node")
			return nil
		}
		out = append(out, s.copied(p.Header, body))
	}
}

// copied is a part that Karpenter copies: for AL2023 with Content-Type alone.
func (s *simulator) copied(header textproto.MIMEHeader, body []byte) sent {
	contentType := header.Get("Content-Type")
	mediaType, _ := bootdata.Fields{{Name: "Content-Type", Value: contentType}}.ContentType()
	if s.OS == AL2 {
		s.fate(mediaType, Kept, "")
		q := sent{body: body}
		for _, name := range sortedKeys(header) {
			q.headers = append(q.headers, name+": "+strings.Join(header[name], ", "))
		}
		return q
	}
	encoded := strings.EqualFold(strings.TrimSpace(header.Get("Content-Transfer-Encoding")), "base64")
	switch _, layers, _ := bootdata.Unwrap(body); {
	case encoded && (mediaType != bootdata.TypeNodeConfig || len(layers) == 0):
		s.fate(mediaType, Lost, "Karpenter copies Content-Type alone, so that the part arrives in base64 and nothing decodes it; write it as 7bit")
	case strings.HasPrefix(mediaType, "multipart/"):
		s.fate(mediaType, Changed, "a document in a part: cloud-init reads its parts, nodeadm does not")
	case header.Get("Content-Disposition") != "":
		s.fate(mediaType, Kept, "its file name is dropped")
	default:
		s.fate(mediaType, Kept, "")
	}
	return sentAs(contentType, body)
}
