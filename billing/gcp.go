package billing

import (
	"encoding/json"
	"path"
	"regexp"
	"strconv"
	"strings"
)

// committedUse reads a commitment of gcloud compute commitments list --format json: one for its vCPUs and one for its
// memory. Those of a spend are not in that list.
func (r *reading) committedUse(raw []byte, i int) {
	var x struct {
		Name         string `json:"name"`
		Region       string `json:"region"`
		Status       string `json:"status"`
		Type         string `json:"type"`
		Category     string `json:"category"`
		EndTimestamp string `json:"endTimestamp"`
		Resources    []struct {
			Type   string `json:"type"`
			Amount string `json:"amount"`
		} `json:"resources"`
	}
	if err := json.Unmarshal(raw, &x); err != nil {
		r.fault("[%d]: %w", i, err)
		return
	}
	families := committedFamilies(x.Type)
	switch {
	case x.Status != "ACTIVE":
		r.skip("commitments that are " + strings.ToLower(x.Status))
		return
	case x.Category == "LICENSE":
		r.skip("commitments of licences")
		return
	case len(families) == 0:
		r.skip("commitments of type " + x.Type)
		return
	}
	for _, resource := range x.Resources {
		amount, err := strconv.ParseInt(resource.Amount, 10, 64)
		if err != nil || amount < 0 || amount > int64(MaxUnits/nano)*1024 {
			r.fault("commitment %s: amount of %s: %q: must be a whole number from 1 to %v", x.Name, resource.Type, resource.Amount, MaxUnits)
			continue
		}
		c := Commitment{Families: families, Region: path.Base(x.Region), Ends: day(x.EndTimestamp)}
		switch resource.Type {
		case "VCPU":
			c.ID, c.Kind, c.Amount = x.Name+"-vcpus", VCPUs, Units(amount*nano)
		case "MEMORY": // in MB of 2^20 bytes
			c.ID, c.Kind, c.Amount = x.Name+"-memory", MemoryGiB, Units(scaled(amount, nano, 1024, false))
		default:
			r.skip("resources of commitments: " + resource.Type)
			continue
		}
		r.add(c)
	}
}

// committedFamilies are the machine series of a type of commitments: the one in its name, e.g. n2 of
// GENERAL_PURPOSE_N2, or those of the oldest types, which name none.
func committedFamilies(of string) []string {
	last := of[strings.LastIndexByte(of, '_')+1:]
	if regexp.MustCompile(`^[A-Z][0-9][A-Z]*$`).MatchString(last) {
		return []string{strings.ToLower(last)}
	}
	switch of {
	case "GENERAL_PURPOSE":
		return []string{"n1"}
	case "COMPUTE_OPTIMIZED":
		return []string{"c2"}
	case "MEMORY_OPTIMIZED":
		return []string{"m1", "m2"}
	case "ACCELERATOR_OPTIMIZED":
		return []string{"a2"}
	case "GRAPHICS_OPTIMIZED":
		return []string{"g2"}
	}
	return nil
}
