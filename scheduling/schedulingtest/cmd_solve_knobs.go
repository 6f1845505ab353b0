package schedulingtest

import (
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// parseKnobWord reads a word of solve that says what kind of plan is wanted.
func parseKnobWord(w word, solver *scheduling.Solver) error {
	switch w.key {
	case "no-spot":
		if w.hasValue {
			return unexpected(w)
		}
		solver.NoSpot = true
	case "smallest":
		list, err := parseList(w)
		solver.Size.Smallest = list
		return err
	case "largest":
		list, err := parseList(w)
		solver.Size.Largest = list
		return err
	case "spot-options", "spot-types", "spot-families", "spot-zones":
		n, err := strconv.Atoi(w.value)
		f := &solver.Flexibility
		*map[string]*int{"spot-options": &f.Options, "spot-types": &f.Types, "spot-families": &f.Families, "spot-zones": &f.Zones}[w.key] = n
		return err
	case "workload-share":
		n, err := strconv.Atoi(strings.TrimSuffix(w.value, "%"))
		solver.WorkloadShare = n
		return err
	case "node-overhead":
		price, err := offerings.ParsePrice(w.value)
		solver.NodeOverhead = price
		return err
	case "interruption":
		amount, err := offerings.ParseAmount(w.value)
		solver.Interruption.PerNode = amount
		return err
	case "interruption-per-core":
		amount, err := offerings.ParseAmount(w.value)
		solver.Interruption.PerCore = amount
		return err
	case "unstated-rate":
		percent, err := strconv.ParseFloat(strings.TrimSuffix(w.value, "%"), 64)
		solver.Interruption.UnstatedRate = percent / 100
		return err
	default:
		return unexpected(w)
	}
	return nil
}

// parseList reads the resources in parentheses behind a word.
func parseList(w word) (corev1.ResourceList, error) {
	amounts, err := parseAmounts(w.value)
	if err != nil {
		return nil, err
	}
	return Resources(amounts...), nil
}
