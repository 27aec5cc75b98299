METADATA     %  ENTRIES  TYPE                NAME                                                    SELECTOR
 6.2 KiB  53.4           x2                  9c32e3838cee893dbb2fc90ccad79598                        9c32e3838cee893dbb2fc90ccad79598
 6.1 KiB  52.8        ?  keyed                 all names together                                    9c32e3838cee893dbb2fc90ccad79598/keyed
 3.1 KiB  27.0        ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/1
 3.0 KiB  25.8        ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/*/0
       ?              ?  keyed                 last-amount                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/last-amount/1
       ?              ?  keyed                 order                                                 9c32e3838cee893dbb2fc90ccad79598/keyed/order
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/order/1
       ?              ?  keyed                 recent-products                                       9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/recent-products/1
       ?              ?  keyed                 per-product                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/per-product/1
       ?              ?  keyed                 _timer_state/processing_user-timers                   9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fprocessing_user-timers/1
       ?              ?  keyed                 _timer_state/event_user-timers                        9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers
       ?              ?  keyed                   subtask 0                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/0
       ?              ?  keyed                   subtask 1                                           9c32e3838cee893dbb2fc90ccad79598/keyed/_timer_state%2Fevent_user-timers/1
 4.0 KiB  35.1           x2                  f74da3e1073d1fceb0c7b6330cd7371c                        f74da3e1073d1fceb0c7b6330cd7371c
 4.0 KiB  34.5        ?  keyed                 all names together                                    f74da3e1073d1fceb0c7b6330cd7371c/keyed
 2.7 KiB  23.3        ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/*/0
 1.3 KiB  11.1        ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/*/1
       ?              ?  keyed                 merged-list                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/merged-list/1
       ?              ?  keyed                 ttl-list                                              f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-list/1
       ?              ?  keyed                 ttl-map                                               f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/ttl-map/1
       ?              ?  keyed                 null-map                                              f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/null-map/1
       ?              ?  keyed                 spaced                                                f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced
       ?              ?  keyed                   subtask 0                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced/0
       ?              ?  keyed                   subtask 1                                           f74da3e1073d1fceb0c7b6330cd7371c/keyed/spaced/1
   491 B   4.2           x2                  b303a366fe308f7c1a07602f4721c431                        b303a366fe308f7c1a07602f4721c431
   128 B   1.1       10  operator split        buffered-elements                                     b303a366fe308f7c1a07602f4721c431/operator/buffered-elements
    64 B   0.5        5  operator split          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/buffered-elements/0
    64 B   0.5        5  operator split          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/buffered-elements/1
    96 B   0.8        7  operator union        union-offsets                                         b303a366fe308f7c1a07602f4721c431/operator/union-offsets
    52 B   0.4        4  operator union          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/union-offsets/0
    44 B   0.4        3  operator union          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/union-offsets/1
    90 B   0.8        6  operator split        pending-orders                                        b303a366fe308f7c1a07602f4721c431/operator/pending-orders
    45 B   0.4        3  operator split          subtask 1                                           b303a366fe308f7c1a07602f4721c431/operator/pending-orders/1
    45 B   0.4        3  operator split          subtask 0                                           b303a366fe308f7c1a07602f4721c431/operator/pending-orders/0
   295 B   2.5           x2                  ca88eee0095684d687a1b6495617f957 (looks like a source)  ca88eee0095684d687a1b6495617f957
    64 B   0.5        2  operator split        SourceReaderState                                     ca88eee0095684d687a1b6495617f957/operator/SourceReaderState
    32 B   0.3        1  operator split          subtask 0                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/0
    32 B   0.3        1  operator split          subtask 1                                           ca88eee0095684d687a1b6495617f957/operator/SourceReaderState/1
    55 B   0.5        1  coordinator           coordinator                                           ca88eee0095684d687a1b6495617f957/coordinator
   259 B   2.2           x2                  2e5b298c776b375c07269a9f5b4ca9bb                        2e5b298c776b375c07269a9f5b4ca9bb
    42 B   0.4        2  operator broadcast    limits                                                2e5b298c776b375c07269a9f5b4ca9bb/operator/limits
    21 B   0.2        1  operator broadcast      subtask 0                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/limits/0
    21 B   0.2        1  operator broadcast      subtask 1                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/limits/1
    40 B   0.3        2  operator broadcast    rules                                                 2e5b298c776b375c07269a9f5b4ca9bb/operator/rules
    20 B   0.2        1  operator broadcast      subtask 0                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/rules/0
    20 B   0.2        1  operator broadcast      subtask 1                                           2e5b298c776b375c07269a9f5b4ca9bb/operator/rules/1
   189 B   1.6           x1                  5182b45b6472b1a8299f474baebf57c3 (looks like a source)  5182b45b6472b1a8299f474baebf57c3
    55 B   0.5        1  coordinator           coordinator                                           5182b45b6472b1a8299f474baebf57c3/coordinator
    32 B   0.3        1  operator split        SourceReaderState                                     5182b45b6472b1a8299f474baebf57c3/operator/SourceReaderState
    32 B   0.3        1  operator split          subtask 0                                           5182b45b6472b1a8299f474baebf57c3/operator/SourceReaderState/0
    73 B   0.6           x2                  5f811b48d11d1b8e2cbc8f6c8a0a7a76                        5f811b48d11d1b8e2cbc8f6c8a0a7a76
    51 B   0.4           x1                  94d12c25e72725b2cc13903a5849219a                        94d12c25e72725b2cc13903a5849219a
