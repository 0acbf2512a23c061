package addons

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/eks"
	"github.com/aws/aws-sdk-go-v2/service/eks/types"
)

// ReadSchema reads the schema of a version; nil where that takes no values. That EKS
// does not know the version is a fault of the option.
func ReadSchema(ctx context.Context, catalog Catalog, name, version string) (*Schema, error) {
	out, err := catalog.DescribeAddonConfiguration(ctx, &eks.DescribeAddonConfigurationInput{AddonName: &name, AddonVersion: &version})
	if err != nil {
		if isGone(err) || isInvalid(err) {
			return nil, optionf("EKS has no version %s of an add-on %s (%s); aws eks describe-addon-versions --addon-name %s lists them", version, name, apiText(err), name)
		}
		return nil, calling("eks:DescribeAddonConfiguration", err)
	}
	text := aws.ToString(out.ConfigurationSchema)
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	s, err := ParseSchema(text)
	if err != nil {
		return nil, fmt.Errorf("add-on %s %s: %w", name, version, err)
	}
	return s, nil
}

// isInvalid says that EKS finds a parameter of the call wrong.
func isInvalid(err error) bool {
	_, parameter := errors.AsType[*types.InvalidParameterException](err)
	_, request := errors.AsType[*types.InvalidRequestException](err)
	return parameter || request
}
