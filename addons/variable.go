package addons

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/eksproxy/eksproxy/proxyconfig"
)

// The variables in both cases: curl reads http_proxy in lower case alone, Go
// looks at upper case first, Python at lower case first.
const (
	httpProxy  = "HTTP_PROXY"
	httpsProxy = "HTTPS_PROXY"
	noProxy    = "NO_PROXY"
)

// VariableNames are the six variables, which are also the ConfigMap's keys.
func VariableNames() []string {
	return []string{httpProxy, httpsProxy, noProxy, "http_proxy", "https_proxy", "no_proxy"}
}

// caVariable gives programs in Go folders of certificates beside the file of
// their image (crypto/x509: SSL_CERT_DIR replaces the folders, not the file).
// So the bundle holds the company's own authorities alone, and hides no public
// ones.
const caVariable = "SSL_CERT_DIR"

const (
	caMount  = "/etc/eksproxy/trusted-ca"
	caVolume = "eksproxy-trusted-ca"
	caValue  = caMount + ":/etc/ssl/certs:/etc/pki/tls/certs"
)

// values are the ConfigMap's data: URLs without user information.
func values(s proxyconfig.Settings) map[string]string {
	list := s.NoProxy.String()
	return map[string]string{
		httpProxy: s.HTTPProxy.Bare(), httpsProxy: s.HTTPSProxy.Bare(), noProxy: list,
		"http_proxy": s.HTTPProxy.Bare(), "https_proxy": s.HTTPSProxy.Bare(), "no_proxy": list,
	}
}

// secretValues are the Secret's data: URLs with their credentials. Both cases of
// a variable read one key.
func secretValues(s proxyconfig.Settings) map[string]string {
	return map[string]string{httpProxy: s.HTTPProxy.Reveal(), httpsProxy: s.HTTPSProxy.Reveal()}
}

// item is one variable: a reference, so that a value stands in one place. It is
// optional, so that a pod of the network starts when what it refers to is gone.
func item(name, secret string) corev1.EnvVar {
	optional := true
	source := &corev1.EnvVarSource{}
	if key, isURL := secretKey(name); secret != "" && isURL {
		source.SecretKeyRef = &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: secret}, Key: key, Optional: &optional}
	} else {
		source.ConfigMapKeyRef = &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: ConfigMapName}, Key: name, Optional: &optional}
	}
	return corev1.EnvVar{Name: name, ValueFrom: source}
}

// secretKey is the Secret's key of a variable that is a URL.
func secretKey(name string) (key string, isURL bool) {
	switch name {
	case httpProxy, "http_proxy":
		return httpProxy, true
	case httpsProxy, "https_proxy":
		return httpsProxy, true
	}
	return "", false
}

func caItem() corev1.EnvVar { return corev1.EnvVar{Name: caVariable, Value: caValue} }
