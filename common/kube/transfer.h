// Performs one HTTPS request to an API server. Client is built on it.
#pragma once

#include <curl/curl.h>

#include <memory>
#include <string>
#include <string_view>

#include "common/kube/client.h"
#include "common/kube/lines.h"

namespace crossover::kube {

class Transfer {
 public:
  // Watching holds the callbacks for the lines of a watch. REQUIRES: both outlive the transfer.
  struct Watching {
    const Client::OnLine* on_line = nullptr;  // null: the whole answer is the body
    const Client::OnOpen* on_open = nullptr;
  };

  // Prepares a GET request. Reads the token file.
  Transfer(const Access& access, const std::string& path, const std::string& accept, Watching watching);
  // Makes it a request with another method and a body. REQUIRES: `body` outlives the transfer.
  void Send(const std::string& method, const std::string& content_type, const std::string& body);

  CURL* handle() const { return easy_.get(); }
  // Returns the answer. Call it once, after the transfer has ended.
  Response Finish(CURLcode code);

 private:
  struct EasyCloser {
    void operator()(CURL* easy) const { curl_easy_cleanup(easy); }
  };
  struct HeadersCloser {
    void operator()(curl_slist* headers) const { curl_slist_free_all(headers); }
  };

  template <class Value>
  void Set(CURLoption option, Value value) {
    curl_easy_setopt(easy_.get(), option, value);
  }
  void AddHeader(const std::string& header);
  long Status() const;
  static std::size_t OnBytes(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t OnHeader(char* bytes, std::size_t size, std::size_t count, void* self);
  bool Take(std::string_view bytes);

  const Watching watching_;
  Response response_;
  Lines cut_{Client::kMostBytes};
  char error_[CURL_ERROR_SIZE] = {};
  std::unique_ptr<curl_slist, HeadersCloser> headers_;
  std::unique_ptr<CURL, EasyCloser> easy_;  // last: it uses the other members
};

}  // namespace crossover::kube
