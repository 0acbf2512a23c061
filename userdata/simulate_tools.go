package userdata

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/eksproxy/eksproxy/bootdata"
)

// taken are the parts of the document as one would copy them into the fields of
// a tool, decoded.
func (s *simulator) taken() []bootdata.Part {
	doc, err := bootdata.Parse(s.raw)
	if err != nil {
		s.refuse("the document cannot be taken apart: %v", err)
	}
	return doc.Parts
}

// eksctl: scripts are preBootstrapCommands, and NodeConfigs one
// overrideBootstrapCommand. Nothing else has a field.
func (s *simulator) eksctl() {
	var scripts []sent
	var configs []bootdata.NodeConfig
	for _, p := range s.taken() {
		switch {
		case strings.HasPrefix(p.ContentType, bootdata.TypeShell):
			s.fate(p.ContentType, Changed, "a command of preBootstrapCommands, which runs once")
			if s.OS == AL2023 {
				p.Body = append([]byte("#!/bin/bash\n"), p.Body...)
			}
			scripts = append(scripts, sentAs(scriptType, p.Body))
		case p.ContentType == bootdata.TypeNodeConfig && s.OS == AL2023:
			if c, err := bootdata.DecodeNodeConfig(p.Body, false); err != nil {
				s.fate(p.ContentType, Lost, err.Error())
			} else {
				configs = append(configs, c)
				s.fate(p.ContentType, Changed, "overrideBootstrapCommand; fields that eksctl does not know are dropped")
			}
		default:
			s.fate(p.ContentType, Lost, "eksctl has no field for a "+kindOf(p))
		}
	}
	if len(configs) > 0 {
		merged, err := bootdata.MergeNodeConfigs(configs...)
		if err != nil {
			s.refuse("%v", err)
			return
		}
		scripts = append(scripts, sentAs(bootdata.TypeNodeConfig, merged.Encode()))
	}
	if s.OS != Ubuntu { // eksctl's own scripts for Ubuntu call its bootstrap
		scripts = append(scripts, s.ownPart())
	}
	s.Document = assemble(scripts)
}

// terraform: the parts are cloudinit_pre_nodeadm on AL2023, which the provider
// writes and EKS completes; on AL2 pre_bootstrap_user_data is one script.
func (s *simulator) terraform() {
	if s.OS == Ubuntu {
		s.untouched("the module has no template for Ubuntu: user_data_template_path hands the document on")
		return
	}
	var parts []sent
	for _, p := range s.taken() {
		switch {
		case s.OS == AL2 && p.ContentType != bootdata.TypeShell:
			s.fate(p.ContentType, Lost, "pre_bootstrap_user_data is one script")
		case s.OS == AL2 && len(parts) > 0:
			s.fate(p.ContentType, Changed, "joined to the script before it: pre_bootstrap_user_data is one")
			parts[0].body = append(append(slices.Clone(parts[0].body), '\n'), p.Body...)
		default:
			s.fate(p.ContentType, Kept, "")
			parts = append(parts, provided(p))
		}
	}
	if s.OS == AL2023 && slices.ContainsFunc(s.Parts, func(p SimulatedPart) bool { return p.Type == bootdata.TypeShell }) {
		s.Notes = append(s.Notes, "cloudinit_pre_nodeadm misleads: its scripts run after nodeadm-config; only a NodeConfig acts before")
	}
	s.Document = assemble(append(parts, s.ownPart()))
}

// provided is a part with the header that the cloudinit provider writes.
func provided(p bootdata.Part) sent {
	var headers []string
	if name := p.FileName(); name != "" {
		headers = append(headers, fmt.Sprintf("Content-Disposition: attachment; filename=%q", name))
	}
	return sent{append(headers, "Content-Transfer-Encoding: 7bit", "Content-Type: "+p.ContentType, "Mime-Version: 1.0"), p.Body}
}

// bottlerocket: every launcher but one lays its settings under or over theirs.
func (s *simulator) bottlerocket() {
	if err := onlyTOML(s.raw); err != nil {
		s.refuse("%v", err)
		return
	}
	var data map[string]any
	if err := toml.Unmarshal(s.raw, &data); err != nil {
		s.refuse("the settings are not TOML: %s", tomlFault(err))
		return
	}
	own := map[string]any{"settings": map[string]any{"kubernetes": map[string]any{
		"api-server": s.Cluster.APIServerEndpoint, "cluster-name": s.Cluster.Name, "cluster-certificate": s.Cluster.CertificateAuthority,
	}}}
	switch s.For {
	case Karpenter:
		s.sections(data)
		data = mergeTables(map[string]any{"settings": data["settings"]}, own)
	case ManagedNodeGroup, viaTerraform:
		l := linter{LintOptions: LintOptions{Bottlerocket, ManagedNodeGroup}, rules: rules()}
		if l.merger(s.raw); len(l.faults) > 0 {
			s.refuse("line %d: %s", l.faults[0].Line, l.faults[0].Title)
			return
		}
		s.fate(bootdata.TypeTOML, Kept, "theirs wins where keys are equal")
		data = mergeTables(own, data)
	case Eksctl:
		if kubernetes, _ := lookup(data, []string{"settings", "kubernetes"}).(map[string]any); kubernetes["cluster-name"] != nil || kubernetes["api-server"] != nil || kubernetes["cluster-certificate"] != nil {
			s.refuse("eksctl refuses settings.kubernetes with the keys of the cluster: it sets them itself")
			return
		}
		s.fate(bootdata.TypeTOML, Kept, "bottlerocket.settings; comments are dropped")
		data = mergeTables(own, data)
	default:
		s.fate(bootdata.TypeTOML, Kept, "")
		s.Document = s.raw
		return
	}
	s.own(bootdata.TypeTOML, "settings.kubernetes of the cluster")
	out, err := toml.Marshal(data)
	if err != nil {
		s.refuse("the settings cannot be written back as TOML")
		return
	}
	s.Document = out
}

// sections notes which tables Karpenter hands on: those below settings.
func (s *simulator) sections(data map[string]any) {
	s.fate(bootdata.TypeTOML, Changed, "written anew: comments are dropped, and Karpenter's keys win in settings.kubernetes")
	for _, k := range sortedKeys(data) {
		if k != "settings" {
			s.fate(bootdata.TypeTOML+" "+k, Lost, "Karpenter hands on the table settings alone")
		}
	}
}

// mergeTables lays a table over another, key by key.
func mergeTables(a, b map[string]any) map[string]any {
	out := map[string]any{}
	for k, v := range a {
		if v != nil {
			out[k] = v
		}
	}
	for k, v := range b {
		below, wasTable := out[k].(map[string]any)
		if inner, ok := v.(map[string]any); ok && wasTable {
			v = mergeTables(below, inner)
		}
		out[k] = v
	}
	return out
}
