// Package container boots nodes: systemd as process 1 in a container, with
// cloud-init, containerd and dnf of Debian 12, in a network where nothing but a
// proxy leads out. What only Amazon's images have (nodeadm, the kubelet, the
// agent of Systems Manager) is a stand-in with the ordering of the real unit.
//
//	site := container.NewSite(t, container.SquidOptions{User: "u", Password: "p"})
//	node := container.New(t, container.Options{Network: site.Network, Trust: site.Trust()})
//	node.WriteFile(t, "/etc/eksproxy/proxy.env", []byte(container.Env(site.Squid.URL(), "")), 0o600)
//	node.Boot(t)
//	r := node.Pull(t, site.Hidden.Image)
//
// It needs root and the Debian packages that a failing test names. All that a
// test makes ends with it, also when it is killed: processes at once, network
// namespaces and folders at the start of the next test.
package container
