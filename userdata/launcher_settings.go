package userdata

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/eksproxy/eksproxy/noproxy"
)

// settingsList is NO_PROXY for a system that adds some entries itself.
func (in Input) settingsList(addsItself func(noproxy.Entry) bool) ([]string, error) {
	list, err := in.composed()
	if err != nil {
		return nil, fmt.Errorf("composing NO_PROXY: %w", err)
	}
	var texts []string
	for _, e := range list {
		if !addsItself(e) {
			texts = append(texts, e.Text)
		}
	}
	return texts, nil
}

// bottlerocketAdds says what Bottlerocket puts into NO_PROXY itself: localhost,
// 127.0.0.1, the host of the API server and the domain of the cluster.
func (in Input) bottlerocketAdds(e noproxy.Entry) bool {
	domain := in.Facts.ClusterDomain
	if domain == "" {
		domain = "cluster.local"
	}
	return e.Text == "localhost" || e.Text == "127.0.0.1" || e.Group == noproxy.Endpoint || e.Text == "."+domain
}

// url is the proxy, with its password where that may stand in user data.
func (in Input) url() string {
	if in.CredentialsInUserData {
		return in.Config.HTTPSProxy.Reveal()
	}
	return in.Config.HTTPSProxy.Bare()
}

// bottlerocketOurs are our settings in TOML. A setting of plain http there is
// none.
func (in Input) bottlerocketOurs() ([]byte, error) {
	texts, err := in.settingsList(in.bottlerocketAdds)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s\n[settings.network]\nhttps-proxy = %q\nno-proxy = [\n", FormatLine, in.url())
	for _, text := range texts {
		fmt.Fprintf(&b, "  %q,\n", text)
	}
	b.WriteString("]\n")
	for i, ca := range in.Config.CAs {
		name := "eksproxy"
		if i > 0 {
			name = fmt.Sprintf("eksproxy-%d", i+1)
		}
		fmt.Fprintf(&b, "\n[settings.pki.%s]\ndata = %q\ntrusted = true\n", name, base64.StdEncoding.EncodeToString(ca.PEM))
	}
	return b.Bytes(), nil
}

// bottlerocket is the whole document where the cluster is known.
func (in Input) bottlerocket() ([]byte, error) {
	text, err := in.bottlerocketOurs()
	if whole, _ := in.whole(); err != nil || !whole {
		return text, err
	}
	dns := ""
	if cidr := in.Facts.ServiceCIDRs[0]; cidr.Addr().Is4() {
		dns = fmt.Sprintf("cluster-dns-ip = %q\n", clusterDNS(cidr))
	}
	return fmt.Appendf(text, "\n[settings.kubernetes]\ncluster-name = %q\napi-server = %q\ncluster-certificate = %q\n%s",
		in.Facts.ClusterName, "https://"+urlHost(in.Facts.EndpointHost), in.ClusterCA, dns), nil
}

// nodeClass is that of auto-mode.
func (in Input) nodeClass() ([]byte, error) {
	texts, err := in.settingsList(func(noproxy.Entry) bool { return false })
	if err != nil {
		return nil, err
	}
	type bundle struct {
		Name string `yaml:"name"`
		Data string `yaml:"data"`
	}
	var bundles []bundle
	for i, ca := range in.Config.CAs {
		bundles = append(bundles, bundle{fmt.Sprintf("eksproxy-%d", i+1), base64.StdEncoding.EncodeToString(ca.PEM)})
	}
	doc := struct {
		APIVersion string            `yaml:"apiVersion"`
		Kind       string            `yaml:"kind"`
		Metadata   map[string]string `yaml:"metadata"`
		Spec       any               `yaml:"spec"`
	}{"eks.amazonaws.com/v1", "NodeClass", map[string]string{"name": "default"}, struct {
		Networking any      `yaml:"advancedNetworking"`
		Bundles    []bundle `yaml:"certificateBundles,omitempty"`
	}{struct {
		HTTPSProxy string   `yaml:"httpsProxy"`
		NoProxy    []string `yaml:"noProxy"`
	}{in.url(), texts}, bundles}}
	return encodeYAML(FormatLine+". Put its fields into your class.\n", doc)
}

func encodeYAML(head string, doc any) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(head)
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(doc); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return b.Bytes(), enc.Close()
}

// runsOnce is what eksctl's way means.
const runsOnce = "eksctl cannot carry a boothook: preBootstrapCommands run once, at the first boot of an instance; " +
	"a change of the VPC's CIDRs or of the proxy reaches new nodes only. With the agent in the image every boot is covered"

// clusterConfig is eksctl's, as far as a node group's proxy goes.
func (in Input) clusterConfig(out Output) (Output, error) {
	group := &yaml.Node{Kind: yaml.MappingNode}
	add := func(name string, value *yaml.Node) {
		group.Content = append(group.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, value)
	}
	family := map[OS]string{AL2: "AmazonLinux2", AL2023: "AmazonLinux2023", Bottlerocket: "Bottlerocket", Ubuntu: "Ubuntu2204"}[in.OS]
	add("name", scalar("NODEGROUP"))
	add("amiFamily", scalar(family))
	groups := "managedNodeGroups"
	if in.OS == Bottlerocket {
		settings, err := in.eksctlSettings()
		if err != nil {
			return Output{}, err
		}
		add("bottlerocket", settings)
	} else {
		script, err := in.script("the first boot only (eksctl)")
		if err != nil {
			return Output{}, err
		}
		override, err := in.override()
		if err != nil {
			return Output{}, err
		}
		out.Notes = append(out.Notes, runsOnce)
		add("preBootstrapCommands", &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{scalar(script)}})
		if override != "" {
			add("overrideBootstrapCommand", scalar(override))
		}
		if in.OS != AL2023 {
			groups = "nodeGroups" // its helper script is there for these only
		}
		if out.Size, err = in.checkSize([]byte(script + override)); err != nil {
			return Output{}, err
		}
	}
	text, err := in.eksctlDocument(groups, group)
	out.Text = text
	return out, err
}

func scalar(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	if strings.Contains(text, "\n") {
		n.Style = yaml.LiteralStyle
	}
	return n
}

// override is what stands in for eksctl's own last part: our NodeConfig, or a
// call of bootstrap.sh that has the environment.
func (in Input) override() (string, error) {
	if in.OS == AL2023 {
		return in.nodeConfig()
	}
	return "#!/bin/bash\n" + FormatLine + "\nset -a\n. /etc/eksproxy/proxy.env\nset +a\n. /var/lib/cloud/scripts/eksctl/bootstrap.helper.sh\n" +
		"/etc/eks/bootstrap.sh \"${CLUSTER_NAME}\" --apiserver-endpoint \"${API_SERVER_URL}\" --b64-cluster-ca \"${B64_CLUSTER_CA}\" \\\n" +
		"  --dns-cluster-ip \"${CLUSTER_DNS}\" --kubelet-extra-args \"--node-labels=${NODE_LABELS}\"\n", nil
}

func (in Input) eksctlSettings() (*yaml.Node, error) {
	texts, err := in.settingsList(in.bottlerocketAdds)
	if err != nil {
		return nil, err
	}
	pki := map[string]any{}
	for i, ca := range in.Config.CAs {
		pki[fmt.Sprintf("eksproxy-%d", i+1)] = map[string]any{"data": base64.StdEncoding.EncodeToString(ca.PEM), "trusted": true}
	}
	settings := map[string]any{"network": map[string]any{"https-proxy": in.url(), "no-proxy": texts}}
	if len(pki) > 0 {
		settings["pki"] = pki
	}
	n := new(yaml.Node)
	if err := n.Encode(map[string]any{"settings": settings}); err != nil {
		return nil, fmt.Errorf("writing the settings: %w", err)
	}
	return n, nil
}

func (in Input) eksctlDocument(groups string, group *yaml.Node) ([]byte, error) {
	name, region := in.Facts.ClusterName, in.Facts.Region
	if name == "" {
		name = "CLUSTER"
	}
	if region == "" {
		region = "REGION"
	}
	head := FormatLine + ". Put the fields of the group into your ClusterConfig.\n"
	if scripted(in.OS) {
		head += "# preBootstrapCommands run once, at the first boot of an instance.\n"
	}
	doc := &yaml.Node{Kind: yaml.MappingNode}
	metadata := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{scalar("name"), scalar(name), scalar("region"), scalar(region)}}
	for _, f := range []struct {
		name  string
		value *yaml.Node
	}{
		{"apiVersion", scalar("eksctl.io/v1alpha5")}, {"kind", scalar("ClusterConfig")}, {"metadata", metadata},
		{groups, &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{group}}},
	} {
		doc.Content = append(doc.Content, scalar(f.name), f.value)
	}
	return encodeYAML(head, doc)
}
