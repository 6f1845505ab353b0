// Package browser opens the report of the command in a headless Chromium, as whoever gets it
// does. It holds tests only, which skip where there is no Chromium:
//
//	go test .                              at two widths, light and dark, with and without script
//	go test . -run Pictures -update        writes the pictures that the README shows
//	go test . -run Pictures -pictures DIR  writes pictures of the whole page, to look at
package browser
