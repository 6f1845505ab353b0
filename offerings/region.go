package offerings

import "strings"

// InRegion reports whether a place is a region or one of its zones, by their names: "us-east-1a" and the local zone
// "us-east-1-bos-1a" are in us-east-1, "europe-west4-b" is in europe-west4, "westeurope-2" in westeurope.
func InRegion(place, region string) bool {
	rest, ok := strings.CutPrefix(place, region)
	return ok && (rest == "" || rest[0] == '-' || len(rest) == 1 && 'a' <= rest[0] && rest[0] <= 'z')
}
