package azure

import "embed"

// files holds the tables that the command in instancetypes/gen writes: one
// region-NAME.gz for each region.
//
//go:embed data/*.gz
var files embed.FS
