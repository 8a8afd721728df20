#include "extender/http/certificate.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <optional>

#include "common/files/read_file.h"
#include "common/logging/log.h"

namespace crossover::extender {
namespace {

template <auto Free>
struct Freer {
  template <class Object>
  void operator()(Object* object) const {
    Free(object);
  }
};
using Bio = std::unique_ptr<BIO, Freer<BIO_free_all>>;
using X509Ptr = std::unique_ptr<X509, Freer<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Freer<EVP_PKEY_free>>;

Bio Reader(const std::string& text) {
  return Bio(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// Returns when the certificate expires, in seconds since 1970, or 0 if it does not say.
std::int64_t EndOf(const X509& certificate) {
  std::tm end{};
  return ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &end) == 1 ? timegm(&end) : 0;
}

// Returns why the pair cannot be used; "" if it can. Then `until_s` is set.
std::string FaultOf(Certificate::Pair* pair, const std::string& chain_file, const std::string& key_file) {
  const X509Ptr certificate(PEM_read_bio_X509(Reader(pair->chain).get(), nullptr, nullptr, nullptr));
  const Key key(PEM_read_bio_PrivateKey(Reader(pair->key).get(), nullptr, nullptr, nullptr));
  std::string fault;
  if (certificate == nullptr) {
    fault = chain_file + ": it has no certificate in PEM that can be read";
  } else if (key == nullptr) {
    fault = key_file + ": it has no private key in PEM that can be read without a passphrase";
  } else if (X509_check_private_key(certificate.get(), key.get()) != 1) {
    fault = key_file + ": it does not have the key of the certificate in " + chain_file;
  }
  if (fault.empty()) pair->until_s = EndOf(*certificate);
  ERR_clear_error();
  return fault;
}

}  // namespace

std::shared_ptr<const Certificate::Pair> Certificate::Current() {
  const std::lock_guard lock(mutex_);
  // The IDs are taken before the files are read: a write in between then shows as a change.
  const files::FileId chain_id = files::FileIdOf(chain_file_);
  const files::FileId key_id = files::FileIdOf(key_file_);
  if (good_ && chain_id == chain_id_ && key_id == key_id_) return pair_;
  std::string fault;
  const auto chain = files::ReadFile(chain_file_, &fault);
  const auto key = chain ? files::ReadFile(key_file_, &fault) : std::nullopt;
  Pair pair;
  if (chain && key) {
    pair.chain = *chain;
    pair.key = *key;
    fault = FaultOf(&pair, chain_file_, key_file_);
  }
  good_ = fault.empty();
  chain_id_ = chain_id;
  key_id_ = key_id;
  if (good_) {
    pair_ = std::make_shared<const Pair>(std::move(pair));
  } else if (fault != complaint_) {
    logging::Warn("certificate: " + fault + (pair_ ? "; the previous certificate stays in use" : ""));
  }
  complaint_ = fault;
  return pair_;
}

}  // namespace crossover::extender
