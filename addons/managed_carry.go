package addons

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// The variables by which a container's template changes with the settings, where
// its configuration has no place for annotations: values by reference alone roll
// no pods.
const (
	hashVariable     = "EKSPROXY_SETTINGS_HASH"
	revisionVariable = "EKSPROXY_CREDENTIALS_REVISION"
)

// sections are the objects of an add-on's configuration values that belong to a
// component, "" for the whole. What stands elsewhere reaches another program, but
// for an object "proxy" at the root, which reaches all of an add-on.
func (c Component) sections() []string {
	switch c.Name {
	case "ebs-csi-controller", "efs-csi-controller":
		return []string{"/controller"}
	case "ebs-csi-node", "efs-csi-node":
		return []string{"/node"}
	case "eks-pod-identity-agent", "cloudwatch-agent":
		return []string{"/agent", ""}
	case "fluent-bit":
		return []string{"/containerLogs/fluentBit"}
	}
	return []string{""}
}

// reaches says whether what is put into a place comes to the component.
func (c Component) reaches(p Place) bool {
	return slices.Contains(c.sections(), p.section()) || p.Form == FormProxy && p.section() == ""
}

// carrier puts settings into places.
type carrier struct {
	Desired
	// revision is that of the Secret's credentials; empty without.
	revision string
}

// choose finds the first place that carries the settings to a component, and what
// goes there; without one, why says what is wrong with each. Names that skip holds
// for are left out.
func (d carrier) choose(c Component, places []Place, skip func(name string) bool) (p Place, additions []Addition, why string) {
	var reasons []string
	for _, p := range places {
		if !c.reaches(p) {
			continue
		}
		additions, why := d.carry(c, p, skip)
		if why == "" {
			return p, additions, ""
		}
		reasons = append(reasons, p.Pointer+": "+why)
	}
	if len(reasons) == 0 {
		return p, nil, "its configuration has no place for variables of " + c.Name
	}
	return p, nil, "no place of its configuration carries these settings: " + strings.Join(reasons, "; ")
}

// carry says what goes into one place, or why that place cannot have it.
func (d carrier) carry(c Component, p Place, skip func(string) bool) (additions []Addition, why string) {
	credentials := d.Options.secret() != ""
	switch {
	case len(d.Settings.CAs) > 0 && c.NoCA == "":
		return nil, "it mounts no certificates, and trustedCA is set"
	case credentials && !p.References:
		return nil, "it takes texts alone, and the proxy's credentials are in a Secret"
	}
	switch p.Form {
	case FormItems:
		return d.items(p, skip), ""
	case FormSources:
		return d.sources(p)
	case FormMap:
		for _, name := range VariableNames() {
			additions = d.literal(additions, p.Pointer+"/"+name, name, skip)
		}
		return additions, ""
	case FormProxy:
		return d.proxy(p, skip)
	}
	return nil, "its form is unknown"
}

// literal adds a value as a text, unless the setting has none.
func (d carrier) literal(to []Addition, pointer, name string, skip func(string) bool) []Addition {
	value := values(d.Settings)[name]
	if value == "" || skip(name) {
		return to
	}
	return append(to, Addition{pointer, value})
}

// items are the variables as items of a list. With references they are those of
// the in-cluster route, letter by letter: one that EKS comes to own and one that
// eksproxy owns are then no conflict, and the change of the owner rolls nothing.
func (d carrier) items(p Place, skip func(string) bool) []Addition {
	var out []Addition
	at := p.Pointer + "/-"
	for _, name := range VariableNames() {
		value := values(d.Settings)[name]
		switch {
		case skip(name):
		case p.References:
			out = append(out, Addition{at, plain(item(name, d.Options.secret()))})
		case value != "":
			out = append(out, Addition{at, plain(corev1.EnvVar{Name: name, Value: value})})
		}
	}
	if len(out) == 0 || !p.References {
		return out // a text rolls the pods by itself
	}
	return append(out, d.marks(p)...)
}

// marks change the template with the settings.
func (d carrier) marks(p Place) []Addition {
	var out []Addition
	for _, m := range [][3]string{{AnnotationHash, hashVariable, d.Settings.Hash()}, {AnnotationRevision, revisionVariable, d.revision}} {
		switch {
		case m[2] == "":
		case p.Annotations != "":
			out = append(out, Addition{p.Annotations + "/" + escape(m[0]), m[2]})
		default:
			out = append(out, Addition{p.Pointer + "/-", plain(corev1.EnvVar{Name: m[1], Value: m[2]})})
		}
	}
	return out
}

// sources take in the whole ConfigMap, then the Secret: of two sources the later
// one counts.
func (d carrier) sources(p Place) ([]Addition, string) {
	if p.Annotations == "" {
		return nil, "a change of the settings would roll no pods, as it has no place for annotations of pods"
	}
	optional := true
	entries := []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: ConfigMapName}, Optional: &optional}}}
	if secret := d.Options.secret(); secret != "" {
		entries = append(entries, corev1.EnvFromSource{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Optional: &optional}})
	}
	var out []Addition
	for _, e := range entries {
		out = append(out, Addition{p.Pointer + "/-", plain(e)})
	}
	return append(out, d.marks(p)...), ""
}

// proxy is the object with fixed names. One that has no name for HTTPS sends both
// sorts of requests to one proxy.
func (d carrier) proxy(p Place, skip func(string) bool) (out []Addition, why string) {
	s := d.Settings
	switch {
	case p.Proxy[noProxy] == "":
		return nil, "it has no name for NO_PROXY"
	case p.Proxy[httpsProxy] == "" && s.HTTPProxy.Bare() != s.HTTPSProxy.Bare():
		return nil, "it takes one proxy, and those of HTTP and HTTPS differ"
	case p.Proxy[httpProxy] == "" && s.HTTPProxy.Bare() != s.HTTPSProxy.Bare():
		return nil, "it has no name for HTTP_PROXY"
	}
	for _, variable := range []string{httpProxy, httpsProxy, noProxy} {
		if name := p.Proxy[variable]; name != "" {
			out = d.literal(out, fmt.Sprintf("%s/%s", p.Pointer, escape(name)), variable, skip)
		}
	}
	return out, ""
}
