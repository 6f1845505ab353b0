package schedulingtest

import (
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plimsoll-go/plimsoll/offerings"
	"github.com/plimsoll-go/plimsoll/requirements"
	"github.com/plimsoll-go/plimsoll/scheduling"
)

// expandKey is the label key that a word of a scenario names: one of the short
// names, or the word itself. A word in quotes stands for itself always.
func expandKey(key string) string {
	switch key {
	case "zone":
		return corev1.LabelTopologyZone
	case "arch":
		return corev1.LabelArchStable
	case "os":
		return corev1.LabelOSStable
	case "type":
		return corev1.LabelInstanceTypeStable
	case "host":
		return corev1.LabelHostname
	case "capacity-type":
		return offerings.CapacityTypeLabel
	case "reservation":
		return offerings.ReservationIDLabel
	case "pool":
		return scheduling.NodePoolLabel
	}
	return strings.Trim(key, `"`)
}

// parseExprs reads requirements, separated by commas:
//
//	KEY in VALUE…    KEY not in VALUE…    KEY exists    KEY absent
//	KEY > N    KEY < N    KEY >= N    KEY <= N
//
// each perhaps followed by "min N", its minValues.
func parseExprs(text string) ([]requirements.Selector, error) {
	var sels []requirements.Selector
	for part := range strings.SplitSeq(text, ",") {
		s, err := parseExpr(strings.Fields(part))
		if err != nil {
			return nil, fmt.Errorf("requirement %q: %w", strings.TrimSpace(part), err)
		}
		sels = append(sels, s)
	}
	return sels, nil
}

func parseExpr(f []string) (requirements.Selector, error) {
	var s requirements.Selector
	if len(f) < 2 {
		return s, fmt.Errorf("want a key and an operator")
	}
	if n := len(f); n >= 4 && f[n-2] == "min" {
		floor, err := strconv.Atoi(f[n-1])
		if err != nil {
			return s, fmt.Errorf("min: %w", err)
		}
		s.MinValues = &floor
		f = f[:n-2]
	}
	s.Key = expandKey(f[0])
	op, rest := f[1], f[2:]
	if op == "not" && len(rest) > 0 && rest[0] == "in" {
		op, rest = "not in", rest[1:]
	}
	operators := map[string]requirements.Operator{
		"in": requirements.In, "not in": requirements.NotIn,
		"exists": requirements.Exists, "absent": requirements.DoesNotExist,
		">": requirements.Gt, "<": requirements.Lt, ">=": requirements.Gte, "<=": requirements.Lte,
	}
	var ok bool
	if s.Operator, ok = operators[op]; !ok {
		return s, fmt.Errorf("unknown operator %q", op)
	}
	if len(rest) > 0 {
		s.Values = rest
	}
	return s, nil
}
