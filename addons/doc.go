// Package addons puts the add-ons of a cluster behind the proxy: it knows which
// of them need it, which objects carry the settings, and how they are put there
// and taken back. It owns single items of the objects' fields as the field
// manager "eksproxy" and leaves everything else to whoever owns it. It decides no
// setting: those come from package proxyconfig.
package addons

// Manager is the field manager by which eksproxy owns fields.
const Manager = "eksproxy"

// Namespace is where the add-ons and their settings live.
const Namespace = "kube-system"

// The names of what carries the settings in a namespace.
const (
	// ConfigMapName is the name of the published recipe, so that what reads it
	// already goes on reading it.
	ConfigMapName = "proxy-environment-variables"
	// CAConfigMapName holds the company's own authorities.
	CAConfigMapName = "eksproxy-trusted-ca"
	// CAKey is the file in it.
	CAKey = "trusted-ca.pem"
	// SecretName is that of a Secret that eksproxy makes.
	SecretName = "eksproxy-credentials" //nolint:gosec // G101: the name of a Secret, not what is in it
)

// The labels and annotations that eksproxy writes.
const (
	// LabelManaged marks what eksproxy has put fields into, for it to be found.
	LabelManaged = "eksproxy.dev/managed"
	// AnnotationHash is the settings hash: on what carries the settings, and in
	// pod templates, where a new value rolls the pods.
	AnnotationHash = "eksproxy.dev/settings-hash"
	// AnnotationRevision is the random revision of the Secret's credentials.
	AnnotationRevision = "eksproxy.dev/credentials-revision"
	// AnnotationReason is what --reason gave.
	AnnotationReason = "eksproxy.dev/reason"
	// AnnotationAdopted holds what a ConfigMap of ours had under our keys before
	// it was adopted, as JSON.
	AnnotationAdopted = "eksproxy.dev/adopted"
	// AnnotationEnvFrom holds the envFrom entries that were taken out, as JSON.
	AnnotationEnvFrom = "eksproxy.dev/migrated-env-from"
)

// managedBy says in the standard label whose object it is.
const managedBy = "app.kubernetes.io/managed-by"
