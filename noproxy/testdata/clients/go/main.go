// Command driver asks one Go client: std reads the environment once, so it
// lives for one vector; xnet reads it each time.
package main

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/net/http/httpproxy"
)

type vector struct {
	Env map[string]string `json:"env"`
	URL string            `json:"url"`
}

func main() {
	proxy := http.ProxyFromEnvironment
	if os.Args[1] == "xnet" {
		proxy = func(r *http.Request) (*url.URL, error) { return httpproxy.FromEnvironment().ProxyFunc()(r.URL) }
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		var v vector
		if err := json.Unmarshal(lines.Bytes(), &v); err != nil {
			fmt.Println(err)
			continue
		}
		setEnvironment(v.Env)
		if err := get(v.URL, proxy); err != nil {
			fmt.Println(err)
			continue
		}
		fmt.Println("ok")
	}
}

func setEnvironment(env map[string]string) {
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if strings.HasSuffix(strings.ToLower(name), "_proxy") || name == "REQUEST_METHOD" {
			os.Unsetenv(name)
		}
	}
	for name, value := range env {
		os.Setenv(name, value)
	}
}

func get(rawURL string, proxy func(*http.Request) (*url.URL, error)) error {
	client := http.Client{Timeout: 5 * time.Second, Transport: &http.Transport{
		Proxy:             proxy,
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{InsecureSkipVerify: true},
	}}
	response, err := client.Get(rawURL)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
