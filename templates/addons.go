package templates

import _ "embed"

// Comments of rendered files of package addons. Words in percent signs are filled
// in.
var (
	// AddonsManifest heads an object that is applied as it is.
	//go:embed addons/manifest.yaml
	AddonsManifest string
	// AddonsComponent heads the component of kustomize.
	//go:embed addons/component.yaml
	AddonsComponent string
	// AddonsResource heads what it adds, and AddonsPatch a patch.
	//go:embed addons/resource.yaml
	AddonsResource string
	//go:embed addons/patch.yaml
	AddonsPatch string
	// AddonsValues heads the values of a chart.
	//go:embed addons/values.yaml
	AddonsValues string
	// AddonsList says what Helm does to a list of values.
	//go:embed addons/list.yaml
	AddonsList string
	// AddonsTerraform heads the values of EKS add-ons for Terraform.
	//go:embed addons/terraform.tf
	AddonsTerraform string
	// AddonsEksctl heads a list of EKS add-ons for eksctl.
	//go:embed addons/eksctl.yaml
	AddonsEksctl string
	// AddonsSecret says how the Secret is made that a file refers to.
	//go:embed addons/secret.yaml
	AddonsSecret string
	// AddonsPlaceholders makes a file unreadable until it is filled in.
	//go:embed addons/placeholders.yaml
	AddonsPlaceholders string
)
