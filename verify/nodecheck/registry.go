package nodecheck

import (
	"slices"
	"strings"
)

// The ids that others name.
const (
	idFiles = "NODE001"
	idPairs = "NODE005"
)

// specs is the registry. An id never changes its meaning and is not given
// again; docs/verify.md is written from it.
func specs() []spec {
	all := append(fileSpecs(), listSpecs()...)
	slices.SortFunc(all, func(a, b spec) int { return strings.Compare(a.id, b.id) })
	return all
}

// fileSpecs are the checks of files and of what runs.
func fileSpecs() []spec {
	return []spec{
		{id: idFiles, title: "files as applied", run: (*subject).files,
			fails:  "a file of ours is missing, changed or has another mode than the record says, or is not what the settings want now",
			remedy: "eksproxy node apply"},
		{id: "NODE002", title: "units as systemd has loaded them", live: true, run: (*subject).loaded,
			fails:  "systemd has not read our drop-in of a unit, reads an environment file of others behind ours, or says NeedDaemonReload",
			remedy: "systemctl daemon-reload && systemctl try-restart UNIT"},
		{id: "NODE003", title: "environment of running services", live: true, run: (*subject).running,
			fails:  "the process of a service has another value of one of the six variables than proxy.env",
			remedy: "systemctl try-restart UNIT"},
		{id: "NODE004", title: "nobody overrides ours", run: (*subject).overrides,
			fails:  "a drop-in of others decides a variable of a unit of ours, or a NodeConfig gives nodeadm another proxy or takes metadata through it",
			remedy: "take the variables out of the file that the finding names, then systemctl daemon-reload"},
		{id: idPairs, title: "six variables, both cases equal", run: (*subject).pairs,
			fails:  "a variable is missing in one case or has two values, or HTTPS_PROXY is missing beside HTTP_PROXY",
			remedy: "eksproxy node apply"},
		{id: "NODE008", title: "lines of /etc/environment fit PAM", run: (*subject).pam,
			fails:  "on Amazon Linux 2, a line of /etc/environment is over 1022 bytes: its pam_env cuts it",
			remedy: "eksproxy node apply"},
		{id: "NODE009", title: "docker's daemon.json", run: (*subject).docker,
			fails:  "daemon.json has other proxies than ours; they win over the environment",
			remedy: "take \"proxies\" out of /etc/docker/daemon.json, then systemctl restart docker"},
		{id: "NODE011", title: "files with secrets are private", run: (*subject).secretModes,
			fails:  "a file with the password can be read by others",
			remedy: "chmod 0600 FILE"},
		{id: "NODE012", title: "certificate authority", run: (*subject).authority,
			fails:  "a certificate of ours has expired, the trust store lacks it, or a service was started before the trust store had it",
			remedy: "eksproxy node apply"},
		{id: "NODE013", title: "proxy of the package manager", run: (*subject).packages,
			fails:  "yum, dnf or apt has another proxy than ours, or dnf has yum's word _none_",
			remedy: "eksproxy node apply"},
		{id: "NODE014", title: "applied again at the next boot", run: (*subject).nextBoot,
			fails:  "the unit is enabled and its program is not there; with nobody to apply it warns",
			remedy: "eksproxy node install"},
		{id: "NODE017", title: "boothooks of this boot", live: true, run: (*subject).boothooks,
			fails:  "cloud-init's log says that a boothook of the last boot did not succeed",
			remedy: "less /var/log/cloud-init-output.log"},
	}
}

// listSpecs are the checks of values, most of them of NO_PROXY.
func listSpecs() []spec {
	return []spec{
		{id: "NODE006", title: "metadata addresses in NO_PROXY", run: (*subject).metadataLiterals,
			fails:  "NO_PROXY lacks 169.254.169.254; where it lacks another metadata or credentials address it warns",
			remedy: "eksproxy node apply"},
		{id: "NODE007", title: "metadata against the files", run: (*subject).metadataNow,
			fails:  "NO_PROXY covers not every CIDR that the VPC has now, or the cluster's endpoint is another one",
			remedy: "eksproxy node apply"},
		{id: "NODE010", title: "values that every reader takes", run: (*subject).values,
			fails:  "a value holds a control character, a blank, a quote or #, or NO_PROXY an entry that is dead in some client: a URL, a port, a path, brackets, an address pattern",
			remedy: "eksproxy node apply"},
		{id: "NODE015", title: "endpoint and services in NO_PROXY", run: (*subject).covered,
			fails:  "NO_PROXY does not cover the cluster's endpoint, by its name, or the range of services",
			remedy: "eksproxy node apply"},
		{id: "NODE016", title: "one NO_PROXY for all units", run: (*subject).narrower,
			fails:  "a unit with a proxy has a NO_PROXY that lacks entries of ours",
			remedy: "take NO_PROXY out of the file that the finding names, then systemctl daemon-reload"},
	}
}
