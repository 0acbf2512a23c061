package userdata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/mail"
	"slices"
	"strings"

	"github.com/eksproxy/eksproxy/bootdata"
	"github.com/eksproxy/eksproxy/plan"
)

// nodeadm computes the NodeConfig of the document.
func (s *simulator) nodeadm() {
	configs, err := nodeConfigs(s.Document)
	if err == nil {
		var merged bootdata.NodeConfig
		if merged, err = bootdata.MergeNodeConfigs(configs...); err == nil {
			s.NodeConfig = &merged
			return
		}
	}
	s.NodeConfigFault = "nodeadm stops, and the node does not join: " + err.Error()
}

// nodeConfigs reads a document as nodeadm does: the parts of its type, whatever
// stands around them, and no document within a part.
func nodeConfigs(document []byte) ([]bootdata.NodeConfig, error) {
	body, _, err := bootdata.Unwrap(document)
	if err != nil {
		return nil, err
	}
	message, err := mail.ReadMessage(bytes.NewReader(body))
	if err != nil {
		return oneNodeConfig(body)
	}
	mediaType, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	if err != nil || !strings.HasPrefix(mediaType, "multipart/") {
		return oneNodeConfig(body)
	}
	var out []bootdata.NodeConfig
	r := multipart.NewReader(message.Body, params["boundary"])
	for n := 1; ; n++ {
		p, err := r.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("the header of part %d cannot be read", n)
		}
		c, ok, err := nodeConfigOf(p)
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", n, err)
		}
		if ok {
			out = append(out, c)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("it finds no NodeConfig in the document")
	}
	return out, nil
}

func oneNodeConfig(body []byte) ([]bootdata.NodeConfig, error) {
	c, err := bootdata.DecodeNodeConfig(body, false)
	return []bootdata.NodeConfig{c}, err
}

// nodeConfigOf reads one part, if it is of nodeadm's type.
func nodeConfigOf(p *multipart.Part) (c bootdata.NodeConfig, ok bool, err error) {
	header := p.Header.Get("Content-Type")
	if header == "" {
		return c, false, nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil {
		return c, false, errors.New("its Content-Type cannot be read")
	}
	if mediaType != bootdata.TypeNodeConfig {
		return c, false, nil
	}
	body, err := io.ReadAll(p)
	if err != nil {
		return c, false, errors.New("it has no closing boundary")
	}
	if body, _, err = bootdata.Unwrap(body); err != nil {
		return c, false, err
	}
	c, err = bootdata.DecodeNodeConfig(body, false)
	return c, err == nil, err
}

// MaskedDocument is the document without secrets, also those in base64.
func (s Simulation) MaskedDocument() string {
	text := string(s.Document)
	if bootdata.IsMIME(s.Document) {
		for _, p := range bootdata.ReadText(s.Document).Parts {
			if parts, err := p.Parts(); err == nil && len(parts) > 0 && !bytes.Equal(parts[0].Body, p.Body) && masks(parts) {
				text = strings.ReplaceAll(text, string(p.Body), "[secret]")
			}
		}
	}
	return plan.Mask(text)
}

func masks(parts []bootdata.Part) bool {
	for _, p := range parts {
		if plan.Mask(string(p.Body)) != string(p.Body) {
			return true
		}
	}
	return false
}

// MaskedNodeConfig is the NodeConfig without secrets; nil where there is none.
func (s Simulation) MaskedNodeConfig() *bootdata.NodeConfig {
	if s.NodeConfig == nil {
		return nil
	}
	n := *s.NodeConfig
	environment := map[string]map[string]string{}
	for service, variables := range n.Spec.Instance.Environment {
		environment[service] = map[string]string{}
		for k, v := range variables {
			environment[service][k] = maskedValue(k, v)
		}
	}
	n.Spec.Instance.Environment = environment
	n.Spec.Containerd.Config = plan.Mask(n.Spec.Containerd.Config)
	n.Spec.Kubelet.Flags = slices.Clone(n.Spec.Kubelet.Flags)
	for i, f := range n.Spec.Kubelet.Flags {
		n.Spec.Kubelet.Flags[i] = plan.Mask(f)
	}
	return &n
}

// maskedValue masks what the name of the variable makes a proxy.
func maskedValue(name, value string) string {
	return strings.TrimPrefix(plan.Mask(name+"="+value), name+"=")
}
