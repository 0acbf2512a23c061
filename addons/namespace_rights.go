package addons

// namespaceRights are those that workload namespaces need: the first few always,
// since only a look tells whether there are any.
func namespaceRights() []Right {
	verbs := func(v ...string) []string { return v }
	everyone, looking := []Use{UsePlan, UsePatch, UseStatus, UseRevert, UseVerify}, []Use{UsePlan, UsePatch}
	rolling := []Use{UsePatch, UseRevert}
	const only = OnlyNamespaces
	stores := []string{ConfigMapName, CAConfigMapName}
	return []Right{
		{verbs("list"), "", "namespaces", nil, "", []Use{UsePlan, UsePatch, UseVerify}, "", "which namespaces are labelled"},
		{verbs("list"), "", "configmaps", []string{ConfigMapName}, "", []Use{UseStatus, UseRevert, UseVerify}, "", "which namespaces have the settings; it shows no other ConfigMap"},
		{verbs("list"), "", "configmaps", []string{CAConfigMapName}, "", []Use{UseRevert}, "", "which namespaces have the certificates"},
		{verbs("list"), "apps", "replicasets", nil, "", []Use{UseStatus, UseRevert, UseVerify}, "", "what eksproxy has changed"},
		{verbs("list"), "batch", "cronjobs", nil, "", []Use{UseStatus, UseRevert, UseVerify}, "", "what eksproxy has changed"},
		{verbs("list"), "apps", "deployments", nil, "", everyone, only, "what is to be changed"},
		{verbs("list"), "apps", "statefulsets", nil, "", everyone, only, "what is to be changed"},
		{verbs("list"), "batch", "jobs", nil, "", looking, only, "what cannot be changed and is reported"},
		{verbs("list"), "", "pods", nil, "", everyone, only, "which pods have the new template, and which have no owner"},
		{verbs("list"), "policy", "poddisruptionbudgets", nil, "", looking, only, "how many pods may be away"},
		{verbs("list"), "", "events", nil, "", rolling, only, "why a pod could not be made"},
		{verbs("get", "patch"), "apps", "deployments", nil, "", rolling, only, "eksproxy's own fields"},
		{verbs("get", "patch"), "apps", "statefulsets", nil, "", rolling, only, "eksproxy's own fields, and for the time of a rollout the update strategy"},
		{verbs("patch"), "apps", "replicasets", nil, "", rolling, only, "eksproxy's own fields"},
		{verbs("patch"), "batch", "cronjobs", nil, "", rolling, only, "eksproxy's own fields"},
		{verbs("list"), "", "configmaps", []string{ConfigMapName}, "", looking, only, "the settings that are there"},
		{verbs("create", "patch"), "", "configmaps", []string{ConfigMapName}, "", []Use{UsePatch}, only, "the settings of each namespace"},
		{verbs("delete"), "", "configmaps", []string{ConfigMapName}, "", []Use{UseRevert}, only, "what eksproxy made"},
		{verbs("list", "create", "patch", "delete"), "", "configmaps", stores[1:], "", rolling, only + ", with trustedCA", "the certificates of each namespace"},
		{verbs("get"), "", "secrets", []string{SecretName}, "", looking, only + ", with " + OnlySecret, "whether each namespace has its own; none is made or copied"},
	}
}

// nodeClassRights are those that NodeClasses need. Whether there are any is asked
// without a right.
func nodeClassRights() []Right {
	return []Right{
		{[]string{"list"}, NodeClassKind().Group, NodeClassKind().Resource, nil, "", []Use{UsePlan, UsePatch, UseStatus, UseRevert, UseVerify}, OnlyAutoMode, "what nodes are launched from"},
		{[]string{"patch"}, NodeClassKind().Group, NodeClassKind().Resource, nil, "", []Use{UsePatch, UseRevert}, OnlyAutoMode, "eksproxy's own fields"},
	}
}
