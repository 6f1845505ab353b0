package instancetypes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"

	corev1 "k8s.io/api/core/v1"
)

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
	head := InstanceType{
		Name: t.Name, Labels: maps.Clone(t.Labels), Capacity: canonical(t.Capacity),
		Overhead: Overhead{
			KubeReserved:      canonical(t.Overhead.KubeReserved),
			SystemReserved:    canonical(t.Overhead.SystemReserved),
			EvictionThreshold: canonical(t.Overhead.EvictionThreshold),
		},
	}
	delete(head.Labels, corev1.LabelInstanceTypeStable) // it is the name
	text, err := json.Marshal(head)
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
