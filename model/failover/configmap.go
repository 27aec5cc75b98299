package failover

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"chkscope/decoder/ha"
)

// maxConfigMaps is the most that is read of one or several ConfigMaps.
const maxConfigMaps = 64 << 20

// configMap is what counts of a ConfigMap.
type configMap struct {
	name, namespace string
	data            map[string]string
}

func isConfigMap(data []byte) bool {
	text := bytes.TrimSpace(data)
	if len(text) > 0 && text[0] == '{' {
		return json.Valid(text)
	}
	return bytes.HasPrefix(text, []byte("apiVersion:")) || bytes.Contains(text, []byte("\nkind: ConfigMap"))
}

// configMaps reads one ConfigMap, or a list of them.
func (l *Listing) configMaps(where string, data []byte) error {
	list, err := parseConfigMaps(data)
	if err != nil {
		return fmt.Errorf("%s: %w", where, err)
	}
	for _, m := range list {
		size := int64(0)
		for _, key := range slices.Sorted(maps.Keys(m.data)) {
			value := m.data[key]
			size += int64(len(key) + len(value))
			switch {
			case key == "counter":
				n, err := ha.KubernetesCounter(value)
				if err != nil {
					return fmt.Errorf("%s: %w", where, err)
				}
				l.count(n)
			case isPointer([]byte(value)):
				l.entry(Pointer{Where: m.name + " " + key, ConfigMap: m.name, Namespace: m.namespace, Key: key, Payload: []byte(value)}, key)
			}
		}
		l.ConfigMaps[m.name] = size
	}
	return nil
}

func parseConfigMaps(data []byte) ([]configMap, error) {
	if text := bytes.TrimSpace(data); text[0] == '{' {
		return jsonConfigMaps(text)
	}
	return yamlConfigMaps(string(data)), nil
}

func jsonConfigMaps(data []byte) ([]configMap, error) {
	type document struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name      string `json:"name"`
			Namespace string `json:"namespace"`
		} `json:"metadata"`
		Data map[string]string `json:"data"`
	}
	var d struct {
		document
		Items []document `json:"items"`
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("not a ConfigMap: %w", err)
	}
	all := append(d.Items, d.document)
	var list []configMap
	for _, m := range all {
		if m.Kind == "ConfigMap" {
			list = append(list, configMap{m.Metadata.Name, m.Metadata.Namespace, m.Data})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("not a ConfigMap, nor a list with one")
	}
	return list, nil
}

// yamlConfigMaps reads what kubectl prints: keys below "data:" with their values
// on one line, which pointers and counters are. Other values of several lines
// hold nothing that is looked for; they count not.
func yamlConfigMaps(text string) []configMap {
	list := []configMap{{data: map[string]string{}}}
	block, indent := "", 0
	for _, line := range strings.Split(text, "\n") {
		body := strings.TrimLeft(line, " ")
		if body == "" || strings.HasPrefix(body, "#") {
			continue
		}
		at := len(line) - len(body)
		if strings.HasPrefix(body, "- ") && !strings.Contains(body, "\"") { // the next of a list
			list = append(list, configMap{data: map[string]string{}})
			body, at, block = body[2:], at+2, ""
		}
		key, value, ok := strings.Cut(strings.TrimRight(body, "\r "), ":")
		m := &list[len(list)-1]
		switch {
		case !ok:
		case block != "" && at > indent:
			switch {
			case block == "data":
				m.data[unquote(key)] = unquote(strings.TrimSpace(value))
			case key == "name" && at == indent+2:
				m.name = unquote(strings.TrimSpace(value))
			case key == "namespace" && at == indent+2:
				m.namespace = unquote(strings.TrimSpace(value))
			}
		case key == "data" || key == "metadata":
			block, indent = key, at
		default:
			block = ""
		}
	}
	return slices.DeleteFunc(list, func(m configMap) bool { return len(m.data) == 0 && m.name == "" })
}

func unquote(s string) string {
	if n := len(s); n >= 2 && (s[0] == '"' || s[0] == '\'') && s[n-1] == s[0] {
		return s[1 : n-1]
	}
	return s
}
