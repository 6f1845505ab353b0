// Package metrics states a consolidation plan as metrics for Prometheus. All metrics are gauges, because the Pushgateway
// and node_exporter's textfile collector read the text of gauges, too.
package metrics
