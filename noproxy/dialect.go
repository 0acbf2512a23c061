package noproxy

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
)

// Dialect is a form in which a program other than a reader of NO_PROXY takes a
// list.
type Dialect string

// The dialects.
const (
	// JVM is the value of http.nonProxyHosts, which serves https too.
	JVM Dialect = "jvm"
	// AWSJava is NO_PROXY as the AWS SDK for Java 2 reads it.
	AWSJava Dialect = "aws-java"
	// APT is a file for /etc/apt/apt.conf.d.
	APT Dialect = "apt"
	// Bottlerocket is TOML for the user data of Bottlerocket.
	Bottlerocket Dialect = "bottlerocket"
	// Docker is the object for /etc/docker/daemon.json.
	Docker Dialect = "docker"
	// Terraform is a flat object of texts, as Terraform's external data source
	// takes it.
	Terraform Dialect = "terraform"
)

// Dialects are all dialects, in the order of the documentation.
func Dialects() []Dialect {
	return []Dialect{JVM, AWSJava, APT, Bottlerocket, Docker, Terraform}
}

// Proxies are the URLs that some dialects have beside the list; empty where
// they are not known. They hold no credentials.
type Proxies struct{ HTTP, HTTPS string }

// Rendered is a list in a dialect.
type Rendered struct {
	// Text ends with a line end.
	Text string
	// LeftOut are the entries that the dialect cannot say, and why.
	LeftOut []Omission
}

// Omission is an entry that a dialect has no form for.
type Omission struct{ Entry, Why string }

// Render writes a list in a dialect.
func (l List) Render(d Dialect, p Proxies) (Rendered, error) {
	switch d {
	case JVM:
		texts, left := patterns(l, bracketed)
		return Rendered{strings.Join(texts, "|") + "\n", left}, nil
	case AWSJava:
		texts, left := patterns(l, noIPv6)
		return Rendered{strings.Join(texts, ",") + "\n", left}, nil
	case APT:
		return apt(l), nil
	case Bottlerocket:
		return bottlerocket(l), nil
	case Docker:
		return docker(l, p)
	case Terraform:
		return terraform(l, p)
	}
	return Rendered{}, fmt.Errorf("dialect %s: write one of %v", Quote(string(d)), Dialects())
}

func apt(l List) Rendered {
	var r Rendered
	var b strings.Builder
	for _, e := range l {
		_, isZone := cutZone(e.Text)
		_, err := netip.ParsePrefix(e.Text)
		addr, _ := netip.ParseAddr(e.Text)
		switch {
		case isZone:
			r.leaveOut(e, "apt has no form for the hosts of a zone; name each mirror")
		case err == nil:
			r.leaveOut(e, "apt has no form for a range")
		case addr.Is6():
			r.leaveOut(e, "a colon ends the name of an option of apt")
		default:
			for _, scheme := range []string{"http", "https"} {
				_, _ = fmt.Fprintf(&b, "Acquire::%s::Proxy::%s \"DIRECT\";\n", scheme, e.Text)
			}
		}
	}
	r.Text = b.String()
	return r
}

func (r *Rendered) leaveOut(e Entry, why string) {
	r.LeftOut = append(r.LeftOut, Omission{e.Text, why})
}

// bottlerocket gives each entry a string of its own: two in one string are one
// entry to its programs (bottlerocket-project-website #499). Its programs are written in Go and Rust, so
// that every entry is read.
func bottlerocket(l List) Rendered {
	var b strings.Builder
	b.WriteString("[settings.network]\nno-proxy = [\n")
	for _, e := range l {
		_, _ = fmt.Fprintf(&b, "  %s,\n", jsonText(e.Text)) // a basic string of TOML
	}
	b.WriteString("]\n")
	return Rendered{Text: b.String()}
}

func jsonText(text string) string {
	data, _ := json.Marshal(text) // a text always has a form
	return string(data)
}

// docker gives what dockerd reads from version 23 on; it is written in Go.
func docker(l List, p Proxies) (Rendered, error) {
	type proxies struct {
		HTTP    string `json:"http-proxy,omitempty"`
		HTTPS   string `json:"https-proxy,omitempty"`
		NoProxy string `json:"no-proxy"`
	}
	return renderJSON(struct {
		Proxies proxies `json:"proxies"`
	}{proxies{p.HTTP, p.HTTPS, l.String()}})
}

// terraform gives texts alone: the external data source takes no list and no
// null.
func terraform(l List, p Proxies) (Rendered, error) {
	jvm, _ := patterns(l, bracketed)
	java, _ := patterns(l, noIPv6)
	return renderJSON(struct {
		NoProxy string `json:"no_proxy"`
		JVM     string `json:"jvm_non_proxy_hosts"`
		Java    string `json:"aws_java_no_proxy"`
		HTTP    string `json:"http_proxy"`
		HTTPS   string `json:"https_proxy"`
	}{l.String(), strings.Join(jvm, "|"), strings.Join(java, ","), p.HTTP, p.HTTPS})
}

func renderJSON(doc any) (Rendered, error) {
	data, err := json.MarshalIndent(doc, "", "  ")
	return Rendered{Text: string(data) + "\n"}, err
}
