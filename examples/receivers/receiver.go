// WEBHOOK_SECRET=whsec_... go run receiver.go
package main

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

const toleranceSeconds = 300

func isGenuine(key []byte, header http.Header, body []byte) bool {
	id, timestamp := header.Get("webhook-id"), header.Get("webhook-timestamp")
	seconds, err := strconv.ParseInt(timestamp, 10, 64)
	age := time.Now().Unix() - seconds
	if err != nil || age > toleranceSeconds || age < -toleranceSeconds {
		return false
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "%s.%s.", id, timestamp)
	mac.Write(body)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// While the secret is rotated there are two signatures.
	for _, signature := range strings.Fields(header.Get("webhook-signature")) {
		if hmac.Equal([]byte(signature), []byte(expected)) {
			return true
		}
	}
	return false
}

type delivery struct {
	ID      string `json:"id"`
	Event   string `json:"event"`
	Height  *int64 `json:"height,omitempty"`
	BlockID string `json:"blockId,omitempty"`
	Reverts string `json:"reverts,omitempty"`
}

// store is a file with one accepted delivery per line. Use the transaction of your database instead.
type store struct {
	sync.Mutex
	file      *os.File
	facts     map[string]delivery
	retracted map[string]bool
}

func openStore(path string) (*store, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	opened := &store{file: file, facts: map[string]delivery{}, retracted: map[string]bool{}}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var stored delivery
		// A crash can leave an incomplete last line, which was not acknowledged.
		if json.Unmarshal(lines.Bytes(), &stored) == nil {
			opened.remember(stored)
		}
	}
	_, err = file.WriteString("\n")
	return opened, err
}

func (s *store) remember(d delivery) {
	if d.Reverts != "" {
		s.retracted[d.Reverts] = true
		delete(s.facts, d.Reverts)
	} else {
		s.facts[d.ID] = d
	}
}

// receive changes nothing if a fact arrives twice, or after its retraction.
func (s *store) receive(d delivery) error {
	s.Lock()
	defer s.Unlock()
	_, isKnown := s.facts[d.ID]
	if isKnown || s.retracted[d.ID] {
		return nil
	}
	line, err := json.Marshal(d)
	if err != nil {
		return err
	}
	if _, err := s.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return err
	}
	s.remember(d)
	return nil
}

func (s *store) view() map[string][]delivery {
	s.Lock()
	defer s.Unlock()
	facts := []delivery{}
	for _, fact := range s.facts {
		facts = append(facts, fact)
	}
	return map[string][]delivery{"facts": facts}
}

func envOr(name, other string) string {
	if value := os.Getenv(name); value != "" {
		return value
	}
	return other
}

func main() {
	secret := strings.TrimPrefix(os.Getenv("WEBHOOK_SECRET"), "whsec_")
	key, err := base64.StdEncoding.DecodeString(secret)
	if err != nil || len(key) == 0 {
		log.Fatal("WEBHOOK_SECRET must be whsec_ and base64")
	}
	facts, err := openStore(envOr("DATABASE", "receiver.log"))
	if err != nil {
		log.Fatal(err)
	}
	http.HandleFunc("/", func(response http.ResponseWriter, request *http.Request) {
		// The view for `uniknode conform`.
		if os.Getenv("CONFORM") != "" && request.Method == http.MethodGet {
			json.NewEncoder(response).Encode(facts.view())
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(response, request.Body, 1<<20))
		if err != nil || !isGenuine(key, request.Header, body) {
			response.WriteHeader(http.StatusUnauthorized)
			return
		}
		var received delivery
		if err := json.Unmarshal(body, &received); err != nil {
			response.WriteHeader(http.StatusBadRequest)
			return
		}
		if err := facts.receive(received); err != nil {
			response.WriteHeader(http.StatusInternalServerError)
			return
		}
		response.WriteHeader(http.StatusNoContent)
	})
	log.Fatal(http.ListenAndServe("127.0.0.1:"+envOr("PORT", "8000"), nil))
}
