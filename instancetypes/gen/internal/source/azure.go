package source

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"strings"

	"go.yaml.in/yaml/v3"
)

// AzureShape is a virtual machine size as the autoscaler has it.
type AzureShape struct {
	VCPU, MemoryMb, GPU int64
	Architecture        string
}

// Azure is the data of Azure beside [Size].
type Azure struct {
	// Prices are by region and size; Date is their day.
	Prices map[string]map[string]json.Number
	Date   string
	// Shapes are by size.
	Shapes map[string]AzureShape
	// GPUMakers are those of the sizes with GPUs that Kubernetes on Azure supports, by size in
	// small letters.
	GPUMakers map[string]string
	// Zones counts the availability zones of a region.
	Zones map[string]int
}

// ReadAzure reads the sources of Azure.
func ReadAzure(ctx context.Context, c Checkouts) (Azure, error) {
	a := Azure{GPUMakers: map[string]string{}, Zones: map[string]int{}}
	karpenter := KarpenterAzure()
	err := errors.Join(
		c.read(ctx, karpenter, "pkg/providers/pricing/zz_generated.pricing.go", func(data []byte) error {
			f, err := parseGoText("zz_generated.pricing.go", data)
			if err != nil {
				return err
			}
			if a.Date, err = f.generatedDate(); err != nil {
				return err
			}
			return f.assigned("initialOnDemandPrices", &a.Prices)
		}),
		c.read(ctx, Autoscaler(), "cluster-autoscaler/cloudprovider/azure/azure_instance_types.go", func(data []byte) error {
			f, err := parseGoText("azure_instance_types.go", data)
			if err != nil {
				return err
			}
			return f.literal("InstanceTypes", &a.Shapes)
		}),
		c.read(ctx, karpenter, "pkg/utils/supported-gpus.yaml", func(data []byte) error {
			var list map[string]struct {
				GPU string `yaml:"gpu"`
			}
			err := yaml.Unmarshal(data, &list)
			for size, info := range list {
				a.GPUMakers[size] = info.GPU
			}
			return err
		}),
		c.read(ctx, karpenter, "pkg/fake/locations.json", func(data []byte) error {
			var list []struct {
				Name  string            `json:"name"`
				Zones []json.RawMessage `json:"availabilityZoneMappings"`
			}
			err := json.Unmarshal(data, &list)
			for _, l := range list {
				a.Zones[l.Name] = len(l.Zones)
			}
			return err
		}),
	)
	return a, err
}

// assigned decodes the composite literals that the functions of a file assign to the elements
// of a map, by the elements' keys.
func (f *goFile) assigned(variable string, into any) error {
	elements := map[string]any{}
	ast.Inspect(f.file, func(n ast.Node) bool {
		set, ok := n.(*ast.AssignStmt)
		if !ok || len(set.Lhs) != 1 {
			return true
		}
		index, ok := set.Lhs[0].(*ast.IndexExpr)
		if !ok {
			return true
		}
		name, isName := index.X.(*ast.Ident)
		key, isText := index.Index.(*ast.BasicLit)
		if isName && isText && name.Name == variable {
			elements[strings.Trim(key.Value, `"`)] = value(set.Rhs[0])
		}
		return true
	})
	if len(elements) == 0 {
		return fmt.Errorf("%s: nothing is assigned to elements of %s", f.path, variable)
	}
	text, err := json.Marshal(elements)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}
