package instancetypes

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// emptyLabel is the cell of a label whose value is the empty string, since an
// empty cell means that there is no such label.
const emptyLabel = `""`

// gpuResource is what the column gpu counts.
const gpuResource = "nvidia.com/gpu"

// csvColumn is one column of the CSV format.
type csvColumn struct {
	// name is the heading, path the field that it stands for, as [Fault] names it:
	// within the offering if the column belongs to that, else within the type.
	name, path string
	offering   bool
	// set takes over a cell that is not empty and returns what is wrong with it.
	set func(t *InstanceType, o *offerings.Offering, cell string) error
	// get is the inverse: the empty string where there is nothing to write.
	get func(t *InstanceType, o *offerings.Offering) string
}

func (c csvColumn) renamed(name string) csvColumn {
	c.name = name
	return c
}

// resourcePrefix is the beginning of headings that name a resource after it, and
// the list that the amounts belong to.
type resourcePrefix struct {
	heading, path string
	offering      bool
	list          func(t *InstanceType, o *offerings.Offering) *corev1.ResourceList
}

func resourcePrefixes() []resourcePrefix {
	return []resourcePrefix{
		{
			heading: "capacity:", path: "capacity",
			list: func(t *InstanceType, _ *offerings.Offering) *corev1.ResourceList { return &t.Capacity },
		},
		{
			heading: "reserved:", path: "overhead.kubeReserved",
			list: func(t *InstanceType, _ *offerings.Offering) *corev1.ResourceList { return &t.Overhead.KubeReserved },
		},
		{
			heading: "systemReserved:", path: "overhead.systemReserved",
			list: func(t *InstanceType, _ *offerings.Offering) *corev1.ResourceList { return &t.Overhead.SystemReserved },
		},
		{
			heading: "evictionThreshold:", path: "overhead.evictionThreshold",
			list: func(t *InstanceType, _ *offerings.Offering) *corev1.ResourceList {
				return &t.Overhead.EvictionThreshold
			},
		},
		{
			heading: "offering.capacity:", path: "capacity", offering: true,
			list: func(_ *InstanceType, o *offerings.Offering) *corev1.ResourceList { return &o.Capacity },
		},
		{
			heading: "offering.overhead:", path: "overhead", offering: true,
			list: func(_ *InstanceType, o *offerings.Offering) *corev1.ResourceList { return &o.Overhead },
		},
	}
}

// column returns the column of one resource.
func (p resourcePrefix) column(resource string) csvColumn {
	key := corev1.ResourceName(resource)
	return csvColumn{
		name: p.heading + resource, path: p.path + "." + resource, offering: p.offering,
		set: func(t *InstanceType, o *offerings.Offering, cell string) error {
			q, err := parseQuantity(cell)
			if err != nil {
				return err
			}
			list := p.list(t, o)
			if *list == nil {
				*list = corev1.ResourceList{}
			}
			(*list)[key] = q
			return nil
		},
		get: func(t *InstanceType, o *offerings.Offering) string {
			q, ok := (*p.list(t, o))[key]
			if !ok {
				return ""
			}
			q = canonical(corev1.ResourceList{key: q})[key]
			return q.String()
		},
	}
}

// labelPrefix is the beginning of headings that name a label after it.
type labelPrefix struct {
	heading  string
	offering bool
	labels   func(t *InstanceType, o *offerings.Offering) *map[string]string
}

func labelPrefixes() []labelPrefix {
	return []labelPrefix{
		{
			heading: "label:",
			labels:  func(t *InstanceType, _ *offerings.Offering) *map[string]string { return &t.Labels },
		},
		{
			heading: "offering.label:", offering: true,
			labels: func(_ *InstanceType, o *offerings.Offering) *map[string]string { return &o.Labels },
		},
	}
}

// column returns the column of one label.
func (p labelPrefix) column(key string) csvColumn {
	return csvColumn{
		name: p.heading + key, path: "labels[" + key + "]", offering: p.offering,
		set: func(t *InstanceType, o *offerings.Offering, cell string) error {
			labels := p.labels(t, o)
			if *labels == nil {
				*labels = map[string]string{}
			}
			if cell == emptyLabel {
				cell = ""
			}
			(*labels)[key] = cell
			return nil
		},
		get: func(t *InstanceType, o *offerings.Offering) string {
			value, ok := (*p.labels(t, o))[key]
			if ok && value == "" {
				return emptyLabel
			}
			return value
		},
	}
}

// columnNamed returns the column of a heading. Names without a colon may be
// written in any case.
func columnNamed(heading string) (csvColumn, error) {
	for _, c := range fixedColumns() {
		if strings.EqualFold(c.name, heading) {
			return c, nil
		}
	}
	prefix, key, ok := strings.Cut(heading, ":")
	prefix += ":"
	if ok && key != "" {
		if short := shortHeading(heading); short != "" {
			return csvColumn{}, fmt.Errorf("has a column of its own, %s", short)
		}
		for _, p := range resourcePrefixes() {
			if p.heading == prefix {
				return p.column(key), nil
			}
		}
		for _, p := range labelPrefixes() {
			if p.heading == prefix {
				return p.column(key), nil
			}
		}
	}
	return csvColumn{}, fmt.Errorf("is not a known column")
}

// shortHeading returns the fixed column that stands for the same field as a
// heading with a prefix; empty if there is none. Allowing both would leave open
// which of them counts.
func shortHeading(heading string) string {
	short := shortHeadings()
	for _, name := range slices.Sorted(maps.Keys(short)) {
		if short[name] == heading {
			return name
		}
	}
	return ""
}

// shortHeadings maps fixed columns to what they are short for.
func shortHeadings() map[string]string {
	return map[string]string{
		"arch": "label:" + corev1.LabelArchStable, "os": "label:" + corev1.LabelOSStable,
		"cpu": "capacity:cpu", "memory": "capacity:memory", "pods": "capacity:pods",
		"ephemeralStorage": "capacity:ephemeral-storage", "gpu": "capacity:" + gpuResource,
	}
}
