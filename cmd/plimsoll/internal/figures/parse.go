package figures

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plimsoll-go/plimsoll/offerings"
)

// ParsePercent reads a share, with or without a percent sign.
func ParsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(text, "%"), 64)
	if err != nil || !(percent >= 0 && percent <= 100) {
		return 0, errors.New("want a percentage from 0% to 100%")
	}
	return percent / 100, nil
}

// ParseRate reads a price per hour, e.g. 0.05/hour, or per month of 730 hours, e.g. 30/month. Only 0 needs no unit.
func ParseRate(text string) (price offerings.Price, month bool, err error) {
	number, unit, stated := strings.Cut(strings.TrimSpace(text), "/")
	if price, err = offerings.ParsePrice(strings.TrimPrefix(number, "$")); err != nil {
		return 0, false, err
	}
	month = slices.Contains([]string{"month", "mo"}, strings.ToLower(unit))
	if hour := slices.Contains([]string{"h", "hr", "hour"}, strings.ToLower(unit)); !month && !hour && (stated || price != 0) {
		return 0, false, errors.New("want an amount per hour or per month, such as 0.05/hour or 30/month")
	}
	return price, month, nil
}

// ParseSize reads an amount of CPU, of memory or of both: cpu=2,memory=4Gi.
func ParseSize(text string) (corev1.ResourceList, error) {
	size := corev1.ResourceList{}
	for part := range strings.SplitSeq(text, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		name := corev1.ResourceName(key)
		q, err := resource.ParseQuantity(value)
		_, twice := size[name]
		switch {
		case name != corev1.ResourceCPU && name != corev1.ResourceMemory:
			return nil, errors.New("want cpu=QUANTITY or memory=QUANTITY")
		case twice:
			return nil, fmt.Errorf("%s is given twice", name)
		case err != nil:
			return nil, fmt.Errorf("%q is not a quantity: want a number like 2, 500m or 4Gi", value)
		case q.Sign() <= 0:
			return nil, fmt.Errorf("%s must be above 0", name)
		case name == corev1.ResourceMemory && q.CmpInt64(1<<20) < 0:
			return nil, fmt.Errorf("memory=%s is %s: want a unit, such as Mi or Gi", value, Count(q.Value(), "byte"))
		}
		size[name] = q
	}
	return size, nil
}
