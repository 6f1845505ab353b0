package manifest

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/samber/lo"
	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/instancetypes"
	"github.com/plimsoll-go/plimsoll/instancetypes/ec2"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// SetCatalog completes the problem with a catalog. A NodePool whose nodes are set up by
// a node class of the input, or by kubelet settings of its own (v1beta1), or that stands for a
// group of nodes, or that sees the catalog through NodeOverlays, launches from a catalog of its own in
// Problem.PoolCatalogs: first the node class applies, see [instancetypes.Catalog.WithNodeSettings],
// then the template of the group's nodes, see [instancetypes.Catalog.WithTemplates], then the
// overlays do. NodePools that are added to the problem afterwards launch from the catalog unchanged.
//
// Node classes that leave nothing to launch, and the fee of EKS Auto Mode, are in Warnings. The
// error reports overlays that conflict, as [*instancetypes.OverlayError] values.
func (s *Snapshot) SetCatalog(catalog *instancetypes.Catalog) error {
	type setup struct {
		class   nodeClass
		kubelet string
		group   int // of the templates of the groups that pools stand for; -1 for other pools
		static  string
	}
	s.Problem.Catalog, s.Problem.PoolCatalogs = catalog, map[string]*instancetypes.Catalog{}
	s.Warnings = append(s.Warnings, autoFeeWarnings(&s.Problem, catalog)...)
	var errs []error
	templates, groups := sharedTemplates(s.templates)
	alike := lo.PartitionBy(lo.Compact(s.Problem.NodePools), func(p *scheduling.NodePool) setup {
		group, ok := groups[p.Name]
		if !ok {
			group = -1
		}
		return setup{s.classOf(p), p.Annotations[scheduling.KubeletAnnotation], group, inJSON(staticOf(s.static, p.Name))}
	})
	for _, pools := range alike {
		own, warnings, err := settled(s.classOf(pools[0]), catalog, pools)
		s.Warnings = append(s.Warnings, warnings...)
		if list := staticOf(s.static, pools[0].Name); len(list) > 0 && err == nil {
			own, err = own.WithTemplates(templatesWithout(own, list))
		}
		if group, ok := groups[pools[0].Name]; ok && err == nil {
			own, err = own.WithTemplates(templates[group])
		}
		if err != nil {
			errs = append(errs, err)
			continue
		}
		labels := map[string]map[string]string{}
		for _, p := range pools {
			labels[p.Name] = p.Spec.Template.Metadata.Labels
			if own != catalog {
				s.Problem.PoolCatalogs[p.Name] = own
			}
		}
		if len(s.Overlays) == 0 {
			continue
		}
		catalogs, err := own.WithPoolOverlays(labels, s.Overlays...)
		if err != nil {
			errs = append(errs, flatten(err)...)
		}
		maps.Copy(s.Problem.PoolCatalogs, catalogs)
	}
	return errors.Join(lo.UniqBy(errs, error.Error)...)
}

// settled returns the catalog for nodes with the settings of NodePools, which have the node class
// and kubelet settings in common, and warnings of pools for which it has nothing to launch.
func settled(class nodeClass, catalog *instancetypes.Catalog, pools []*scheduling.NodePool) (own *instancetypes.Catalog, warnings []scheduling.Warning, err error) {
	kubelet, err := kubeletOf(pools[0])
	if err != nil {
		return nil, nil, fmt.Errorf("NodePool %s: annotation %s: %w", pools[0].Name, scheduling.KubeletAnnotation, err)
	}
	if class == nil && kubelet == nil {
		return catalog, nil, nil
	}
	var settings instancetypes.NodeSettings
	if class == nil {
		settings.Kubelet = *kubelet
	} else if settings, err = class.Settings(kubelet); err != nil {
		return nil, nil, err
	}
	if own, err = catalog.WithNodeSettings(settings); err != nil {
		return nil, nil, err
	}
	if sells(catalog) && !sells(own) {
		for _, p := range pools {
			warnings = append(warnings, scheduling.Warning{Object: "NodePool/" + p.Name, Message: "its node class leaves nothing to launch: the catalog has no instance type in the zones of status.subnets that its images run on"})
		}
	}
	return own, warnings, nil
}

// sells says whether a catalog has anything that can be launched.
func sells(catalog *instancetypes.Catalog) bool {
	for t := range catalog.All() {
		if slices.ContainsFunc(t.Offerings, offerings.Offering.Launchable) {
			return true
		}
	}
	return false
}

// reportClasses warns of node classes that NodePools name and the input lacks, where it is a dump
// of a cluster, and of settings of the others that are not read.
func reportClasses(found *findings, classes map[scheduling.NodeClassRef]nodeClass, p *scheduling.Problem) {
	lacking := map[scheduling.NodeClassRef]*sighting{}
	used := map[nodeClass]bool{}
	for _, pool := range p.NodePools {
		ref := pool.Spec.Template.Spec.NodeClassRef
		class := classNamed(classes, ref)
		used[class] = true
		if class == nil && ref != nil && ref.Name != "" && slices.Contains([]string{awsGroup, ec2.AutoGroup, azureGroup, gcpGroup}, ref.Group) {
			count(lacking, *ref, "NodePool/"+pool.Name)
		}
	}
	if len(p.Nodes) > 0 || len(classes) > 0 {
		for ref, seen := range lacking {
			found.warn(seen.object, fmt.Sprintf("its %s %s is not in the input, so defaults are assumed for the capacity of nodes, %s; add the output of kubectl get %s -o json%s",
				ref.Kind, ref.Name, map[string]string{
					awsGroup: "such as Amazon Linux 2023 and a root volume of 20 GiB", ec2.AutoGroup: "such as a volume of 80 GiB", azureGroup: "such as a disk of 128 GB", gcpGroup: "such as a boot disk of 100 GiB",
				}[ref.Group],
				strings.ToLower(ref.Kind)+"es", seen.others()))
		}
	}
	for ref, class := range classes {
		if !used[class] {
			continue
		}
		if settings, err := class.Settings(nil); err == nil && settings.Labels[corev1.LabelOSStable] == string(corev1.Windows) {
			found.warn(ref.Kind+"/"+ref.Name, "sets up Windows, and the prices of embedded catalogs are those of Linux")
		}
		fields := class.Unread()
		if len(fields) == 0 {
			continue
		}
		message := strings.Join(fields, ", ") + lo.Ternary(len(fields) > 1, " bear", " bears") + " on what is launched, and" + lo.Ternary(len(fields) > 1, " are", " is") + " not read"
		if slices.Contains(fields, "spec.subnetSelectorTerms") {
			message += "; the zones of subnets are known from the status, as kubectl get prints it"
		}
		found.warn(ref.Kind+"/"+ref.Name, message)
	}
}
