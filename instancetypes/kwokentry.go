package instancetypes

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/plimsoll-go/plimsoll/internal/strict"
	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
)

// kwokDomain is the domain of the labels that the KWOK provider adds.
const kwokDomain = "karpenter.kwok.sh/"

// kwokEntry is one element of the array.
type kwokEntry struct {
	Name             string                  `json:"name"`
	Offerings        []kwokOffering          `json:"offerings"`
	Architecture     string                  `json:"architecture"`
	OperatingSystems []string                `json:"operatingSystems"`
	Resources        map[string]kwokQuantity `json:"resources"`
}

// kwokOffering has the fields of the present format and, in lower case, the fields of the previous
// one.
type kwokOffering struct {
	Price               json.Number
	Requirements        []corev1.NodeSelectorRequirement
	ReservationCapacity int
	CapacityType        string `json:"capacityType"`
	Zone                string `json:"zone"`
}

// kwokQuantity is a quantity as it is written, with or without quotation marks.
type kwokQuantity string

// UnmarshalJSON takes a string or a number.
func (q *kwokQuantity) UnmarshalJSON(data []byte) error {
	var text string
	if err := json.Unmarshal(data, &text); err != nil {
		var number json.Number
		if json.Unmarshal(data, &number) != nil {
			text = string(data) // refused later, with the name of the resource
		} else {
			text = number.String()
		}
	}
	*q = kwokQuantity(text)
	return nil
}

func (e kwokEntry) os() string {
	if len(e.OperatingSystems) == 0 || slices.Contains(e.OperatingSystems, defaultOS) {
		return defaultOS
	}
	return slices.Min(e.OperatingSystems)
}

func (e kwokEntry) arch() string {
	switch e.Architecture {
	case "":
		return defaultArch
	case "x86_64":
		return "amd64"
	case "aarch64":
		return "arm64"
	case "i386":
		return "386"
	}
	return e.Architecture
}

func (e kwokEntry) holds(report func(field, value, problem string)) corev1.ResourceList {
	capacity := corev1.ResourceList{corev1.ResourcePods: *resource.NewQuantity(defaultPods, resource.DecimalSI)}
	for _, name := range slices.Sorted(maps.Keys(e.Resources)) {
		q, err := parseQuantity(string(e.Resources[name]))
		if err != nil {
			report(strict.Member("capacity", name), string(e.Resources[name]), err.Error())
			continue
		}
		capacity[corev1.ResourceName(name)] = q
	}
	return capacity
}

// nodeLabels are the labels that the provider sets. Text that cannot be a label value is left out;
// it comes from invalid names.
func (e kwokEntry) nodeLabels(os, arch string, capacity corev1.ResourceList) map[string]string {
	stated := func(name corev1.ResourceName) string {
		q, ok := capacity[name]
		if !ok {
			return ""
		}
		return quantityText(q)
	}
	cpu := stated(corev1.ResourceCPU)
	labels := map[string]string{
		corev1.LabelInstanceTypeStable: e.Name,
		corev1.LabelArchStable:         arch,
		corev1.LabelOSStable:           os,
	}
	for key, value := range map[string]string{
		"instance-size":   kwokSize(e.Name, cpu),
		"instance-family": kwokFamily(e.Name),
		"instance-cpu":    cpu,
		"instance-memory": stated(corev1.ResourceMemory),
	} {
		if value != "" && len(validation.IsValidLabelValue(value)) == 0 {
			labels[kwokDomain+key] = value
		}
	}
	return labels
}

// kwokSizes matches the names whose part after the dot is a size.
var kwokSizes = regexp.MustCompile(`^\w+\.(nano|micro|small|medium|large|\d*xlarge|metal)$`)

// kwokSize is the size that a name tells, or the number of cores.
func kwokSize(name, cpu string) string {
	if match := kwokSizes.FindStringSubmatch(name); match != nil {
		return match[1]
	}
	return cpu
}

// kwokFamily is the part of a name before the first dot or dash, or its first letter.
func kwokFamily(name string) string {
	if i := strings.IndexAny(name, ".-"); i >= 0 {
		return name[:i]
	}
	return name[:min(1, len(name))]
}

// onSale returns one offering for each zone and capacity type.
func (o kwokOffering) onSale(path string, report func(field, value, problem string)) []offerings.Offering {
	sold := offerings.Offering{}
	zones, capacityTypes := nonEmpty(o.Zone), nonEmpty(o.CapacityType)
	for i, r := range o.Requirements {
		field := fmt.Sprintf("%s.Requirements[%d]", path, i)
		key := requirements.NormalizeKey(r.Key)
		switch {
		case r.Operator == corev1.NodeSelectorOpDoesNotExist:
		case r.Operator != corev1.NodeSelectorOpIn || len(r.Values) == 0:
			report(field, r.Key+" "+string(r.Operator), "must be In with a value, since a node has one")
		case key == offerings.ZoneLabel:
			zones = r.Values
		case key == offerings.CapacityTypeLabel:
			capacityTypes = r.Values
		case len(r.Values) > 1:
			report(field, r.Key, "must have a single value, since a node has one")
		case key == offerings.ReservationIDLabel:
			sold.ReservationID = r.Values[0]
		default:
			if sold.Labels == nil {
				sold.Labels = map[string]string{}
			}
			sold.Labels[key] = r.Values[0]
		}
	}
	price, err := offerings.ParsePrice(o.Price.String())
	switch {
	case o.Price == "":
		report(path+".Price", "", "is missing")
	case err != nil:
		report(path+".Price", o.Price.String(), reason(err))
	}
	if len(zones) == 0 {
		report(path+".Requirements", "", "must say which zone ("+offerings.ZoneLabel+")")
	}
	if len(capacityTypes) == 0 {
		report(path+".Requirements", "", "must say which capacity type ("+offerings.CapacityTypeLabel+")")
	}
	sold.Price = price
	var list []offerings.Offering
	for _, zone := range zones {
		for _, capacityType := range capacityTypes {
			one := sold.DeepCopy()
			one.Zone, one.CapacityType = zone, offerings.CapacityType(capacityType)
			if one.Counted() {
				one.ReservationCount = int64(o.ReservationCapacity)
			} else {
				one.ReservationID = ""
			}
			list = append(list, one)
		}
	}
	return list
}

func nonEmpty(s string) []string {
	if s == "" {
		return nil
	}
	return []string{s}
}
