package clustercheck

import "slices"

// The ids that other findings name.
const (
	idServer    = "CLUSTER001"
	idConfigMap = "CLUSTER002"
	idDrift     = "CLUSTER017"
	idKubeProxy = "CLUSTER018"
)

const patchCommand = "eksproxy addons patch"

// specs are all checks. An id never changes its meaning.
func specs() []spec {
	return slices.Concat(specsOfSettings(), specsOfList(), specsOfWorkloads(), specsOfNamespaces(), specsOfManaged(), specsOfNodeClasses())
}

// specsOfSettings look at what carries the settings.
func specsOfSettings() []spec {
	return []spec{
		{idServer, "API server answers", "never; where the server is not reached, or denies who asks, nothing can be decided", "kubectl version; look at --kubeconfig, --context and --kube-direct", (*subject).server},
		{idConfigMap, "ConfigMap with six variables", "kube-system/proxy-environment-variables is missing, or one of its six keys; without HTTPS_PROXY https goes direct", patchCommand, (*subject).configMapThere},
		{"CLUSTER003", "both cases equal", "a variable of the ConfigMap has two values, one a case", patchCommand, (*subject).cases},
		{"CLUSTER004", "values that every reader takes", "a value of the ConfigMap holds a control character, as a line end, or a blank at its end, or a proxy is no URL with http or https, or no host", patchCommand, (*subject).valuesSound},
		{"CLUSTER005", "no credentials in the open", "a proxy's URL with a user or a password stands in the ConfigMap or in a workload, where everyone who may look can read it", "eksproxy addons patch --create-secret --credentials-file FILE; then change the password", (*subject).noCredentials},
		{"CLUSTER006", "entries of NO_PROXY", "an entry of NO_PROXY is dead or is read otherwise in some client: an address pattern, brackets, a comment, a URL (docs/lint.md); entries that are wide are warned of", "eksproxy noproxy lint shows the fix; then " + patchCommand, (*subject).entriesSound},
	}
}

// specsOfList look at what NO_PROXY covers.
func specsOfList() []spec {
	return []spec{
		{"CLUSTER007", "API server's service address in NO_PROXY", "NO_PROXY does not cover the ClusterIP of the service kubernetes or the range of services; where it covers the address by a range alone it warns", patchCommand, (*subject).serviceCovered},
		{"CLUSTER008", "CIDRs of the VPC in NO_PROXY", "NO_PROXY does not cover every CIDR of the VPC", patchCommand, (*subject).vpcCovered},
		{"CLUSTER009", "cluster endpoint in NO_PROXY", "NO_PROXY does not cover the host of the cluster's endpoint", patchCommand, (*subject).endpointCovered},
		{"CLUSTER010", "metadata and Pod Identity in NO_PROXY", "NO_PROXY does not cover 169.254.169.254 or 169.254.170.23, in an IPv6 cluster also fd00:ec2::254 or fd00:ec2::23; else it warns of those", patchCommand, (*subject).metadataCovered},
	}
}

// specsOfWorkloads look at who has the variables.
func specsOfWorkloads() []spec {
	return []spec{
		{"CLUSTER011", "add-ons have the variables", "an add-on that needs the proxy, or that the settings name, lacks one of the six variables in a container that calls out, or another's value there is wrong", patchCommand, (*subject).carried},
		{"CLUSTER012", "each variable once", "never; it warns of a variable that a container lists twice: the last one counts, and an apply takes both away", "kubectl -n NAMESPACE edit KIND NAME", (*subject).twice},
		{"CLUSTER013", "what containers refer to is there", "a container of kube-system must have a ConfigMap, a Secret or a key that is missing: its pods do not start", patchCommand, (*subject).references},
		{"CLUSTER014", "envFrom as it was", "the published recipe's patch took the entries out that a container had in envFrom", "put the entry back into envFrom, beside the recipe's", (*subject).envFromKept},
		{"CLUSTER015", "pods of the current settings", "a pod of a patched workload has an older template, or the template has other settings than the ConfigMap", patchCommand, (*subject).podsCurrent},
		{"CLUSTER016", "no rollout is held", "a run that did not end has put an update strategy aside, and the pods are held back", patchCommand + " gives it back", (*subject).notHeld},
		{idDrift, "as eksproxy set it", "what eksproxy set was changed or taken away since, in a workload or in the ConfigMap", patchCommand, (*subject).asApplied},
		{idKubeProxy, "kube-proxy reaches the API server", "kube-proxy has a proxy and a NO_PROXY that does not cover the cluster's endpoint: services stop working on a new node", patchCommand, (*subject).kubeProxy},
		{"CLUSTER019", "who else needs the proxy", "never; it warns of workloads in kube-system that may call out and have none of the variables", "eksproxy addons patch --component NAME, or --workload NAMESPACE/KIND/NAME", (*subject).leftAlone},
		{"CLUSTER020", "AWS services by endpoint or by proxy", "NO_PROXY sends a service of AWS past the proxy for which the VPC has no usable endpoint: its clients wait for a time-out", "take the entry out of noProxy.add, then " + patchCommand, (*subject).awsServices},
		{"CLUSTER021", "as the settings say", "the ConfigMap holds something else than the settings compose now", patchCommand, (*subject).asWanted},
		{"CLUSTER022", "certificate authority", "trustedCA is wanted or mounted and its ConfigMap is missing, lacks a certificate, or holds one that has expired", patchCommand, (*subject).authority},
		{"CLUSTER023", "credentials in the Secret", "the Secret that the variables refer to is missing, or a URL in it is none or holds a control character: the pods go without the proxy", "eksproxy addons patch --create-secret --credentials-file FILE", (*subject).credentials},
		{"CLUSTER024", "health of the EKS add-ons", "never; it warns of an add-on whose update stopped at a field conflict", "aws eks update-addon --cluster-name CLUSTER --addon-name NAME --resolve-conflicts PRESERVE", (*subject).addonHealth},
	}
}
