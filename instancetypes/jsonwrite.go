package instancetypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// typeJSON is a type as the JSON format has it, without its offerings.
type typeJSON struct {
	Name     string              `json:"name"`
	Labels   map[string]string   `json:"labels,omitempty"`
	Capacity corev1.ResourceList `json:"capacity"`
	Overhead overheadJSON        `json:"overhead,omitzero"`
}

type overheadJSON struct {
	KubeReserved      corev1.ResourceList `json:"kubeReserved,omitempty"`
	SystemReserved    corev1.ResourceList `json:"systemReserved,omitempty"`
	EvictionThreshold corev1.ResourceList `json:"evictionThreshold,omitempty"`
}

// IsZero reports whether nothing is reserved at all.
func (o overheadJSON) IsZero() bool {
	return len(o.KubeReserved)+len(o.SystemReserved)+len(o.EvictionThreshold) == 0
}

// WriteJSON writes the catalog in the JSON format that the package comment
// describes, with one line for each type and each offering. [ReadJSON] reads it
// back; the same catalog gives the same bytes.
func (c *Catalog) WriteJSON(w io.Writer) error {
	var out bytes.Buffer
	err := c.writeJSON(&out)
	if err == nil {
		_, err = w.Write(out.Bytes())
	}
	if err != nil {
		return fmt.Errorf("writing JSON catalog: %w", err)
	}
	return nil
}

func (c *Catalog) writeJSON(out *bytes.Buffer) error {
	fmt.Fprintf(out, "{\n\"version\":%s,\n", formatVersion)
	if statements := c.Provenance(); len(statements) > 0 {
		text, err := json.Marshal(statements)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "\"provenance\":%s,\n", text)
	}
	out.WriteString("\"instanceTypes\":[")
	separator := "\n"
	for t := range c.All() {
		out.WriteString(separator)
		separator = ",\n"
		if err := t.writeJSON(out); err != nil {
			return fmt.Errorf("instance type %s: %w", t.Name, err)
		}
	}
	out.WriteString("\n]\n}\n")
	return nil
}

func (t *InstanceType) writeJSON(out *bytes.Buffer) error {
	labels := maps.Clone(t.Labels)
	delete(labels, corev1.LabelInstanceTypeStable) // it is the name
	text, err := json.Marshal(typeJSON{
		Name: t.Name, Labels: labels, Capacity: canonical(t.Capacity),
		Overhead: overheadJSON{
			KubeReserved:      canonical(t.Overhead.KubeReserved),
			SystemReserved:    canonical(t.Overhead.SystemReserved),
			EvictionThreshold: canonical(t.Overhead.EvictionThreshold),
		},
	})
	if err != nil {
		return err
	}
	out.Write(text[:len(text)-1]) // without the closing brace
	out.WriteString(",\"offerings\":[")
	separator := "\n "
	for _, o := range t.Offerings {
		o.Capacity, o.Overhead = canonical(o.Capacity), canonical(o.Overhead)
		text, err := json.Marshal(o)
		if err != nil {
			return err
		}
		out.WriteString(separator)
		separator = ",\n "
		out.Write(text)
	}
	out.WriteString("]}")
	return nil
}
