package azuredata

import (
	"regexp"
	"strings"

	"github.com/plimsoll-go/plimsoll/instancetypes/gen/internal/source"
)

// sizeName splits a name without "Standard_" into family, number, features and the
// rest: "D8as_v5" into "D", "8", "as", "_v5".
var sizeName = regexp.MustCompile(`^([A-Z]+)(\d+)([a-z]*)(_.*)?$`)

// features returns the letters after the number of cores, each of which stands for a
// feature.
func features(name string) string {
	if m := sizeName.FindStringSubmatch(strings.TrimPrefix(name, "Standard_")); m != nil {
		return m[3]
	}
	return ""
}

// withdrawn matches sizes that still have a price and that Azure no longer offers to
// anyone, or never did under that name; checked against the list of sizes that
// Karpenter's Azure provider keeps (August 2026).
var withdrawn = regexp.MustCompile(`^(` + strings.Join([]string{
	`A[5-7]`, `D\d+s`, `DS?15i_v2`, `E64is?_v3`, `H\d+m?r?`, `HB60rs`,
	`M896ixds_32_v3`, `NC\d+r?`, `NC\d+r?s_v2`, `ND\d+r?s`, `NV\d+`, `NP\d+s`,
}, "|") + `)$`)

// memoryOption matches the digits that tell sizes with the same number of cores
// apart: "M96ds1_v3" is written "M96ds_1_v3".
var memoryOption = regexp.MustCompile(`^(M\d+[a-z]+)(\d+)(_v3)$`)

// skuName returns the name by which Azure's API knows a size, or why the size is not
// for Kubernetes. The source's names are those of a price list: some lack
// "Standard", and a few are misspelled.
func skuName(s source.Size) (name, reason string) {
	body, found := strings.CutPrefix(s.Name, "Basic ")
	if found {
		return "", "is of the Basic tier, which Kubernetes on Azure does not take"
	}
	body = strings.ReplaceAll(strings.TrimPrefix(body, "Standard "), " ", "_")
	body = memoryOption.ReplaceAllString(body, "${1}_$2$3")
	body = strings.Replace(body, "_v710_", "_V710_", 1)
	switch body {
	case "E96nds_v4", "E96ns_v4": // the price list has the version wrong
		body = strings.Replace(body, "_v4", "_v6", 1)
	case "ND96asr_A100_v4":
		body = "ND96asr_v4"
	case "NV28ads_V710_v5":
		body = "NV28adms_V710_v5"
	}
	switch {
	case strings.Contains(body, "-"):
		return "", "has fewer cores than it is priced for, for software licences; Karpenter leaves such sizes out"
	case strings.HasPrefix(body, "DC"), strings.HasPrefix(body, "EC"):
		return "", "is for confidential computing, which Karpenter leaves out"
	case withdrawn.MatchString(body):
		return "", "is no longer offered"
	}
	return "Standard_" + body, ""
}
